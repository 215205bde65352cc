import { cpus, totalmem } from 'node:os';
import type { Servers } from '../setup.ts';

/** Prints the machine and settings that figures depend on; compare figures only within one output. */
export function printMachine(servers: Servers): void {
  const settings = Object.entries(servers.settings).map(([name, setting]) => `${name}=${setting}`);
  console.log(
    `${cpus().length} × ${cpus()[0]!.model}, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.version}`,
  );
  console.log(`PostgreSQL: ${settings.join(' ')}; Redis: ${servers.redisUrl ? 'without persistence' : 'none'}`);
}
