import { cpus, totalmem } from 'node:os';
import { startServers } from './setup.ts';
import { cancel } from './cancel.ts';
import { cpuPerStep } from './cpu.ts';
import { memory } from './memory.ts';
import { reading } from './reading.ts';
import { recovery } from './recovery.ts';
import { storage } from './storage.ts';
import { throughput } from './throughput.ts';

// npm run bench [-- throughput|cpu|storage|reading|memory|cancel|recovery …]
const wanted = process.argv.slice(2);
const wants = (name: string) => wanted.length === 0 || wanted.includes(name);

const servers = await startServers();
try {
  const versions = Object.entries(servers.settings).map(([name, setting]) => `${name}=${setting}`);
  console.log(
    `${cpus().length} × ${cpus()[0]!.model}, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.version}`,
  );
  console.log(`PostgreSQL: ${versions.join(' ')}; Redis: ${servers.redisUrl ? 'yes, no persistence' : 'none'}`);
  if (wants('throughput')) await throughput(servers, { runs: 1_000, rounds: 3 });
  if (wants('cpu')) await cpuPerStep(servers);
  if (wants('storage')) await storage(servers);
  if (wants('reading')) await reading(servers);
  if (wants('memory')) await memory(servers);
  if (wants('cancel')) await cancel(servers);
  if (wants('recovery')) await recovery(servers);
} finally {
  await servers.stop();
}
