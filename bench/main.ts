import { cpus, totalmem } from 'node:os';
import { startServers } from './setup.ts';
import { cancel } from './cancel.ts';
import { cpuPerStep } from './cpu.ts';
import { memory } from './memory.ts';
import { reading } from './reading.ts';
import { recovery } from './recovery.ts';
import { retention } from './retention.ts';
import { storage } from './storage.ts';
import { throughput } from './throughput.ts';

// npm run bench [-- throughput|cpu|storage|reading|memory|cancel|recovery|retention …]
const selected = process.argv.slice(2);
const isSelected = (name: string) => selected.length === 0 || selected.includes(name);

const servers = await startServers();
try {
  const versions = Object.entries(servers.settings).map(([name, setting]) => `${name}=${setting}`);
  console.log(
    `${cpus().length} × ${cpus()[0]!.model}, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.version}`,
  );
  console.log(`PostgreSQL: ${versions.join(' ')}; Redis: ${servers.redisUrl ? 'without persistence' : 'none'}`);
  if (isSelected('throughput')) await throughput(servers, { runs: 1_000, rounds: 3 });
  if (isSelected('cpu')) await cpuPerStep(servers);
  if (isSelected('storage')) await storage(servers);
  if (isSelected('reading')) await reading(servers);
  if (isSelected('memory')) await memory(servers);
  if (isSelected('cancel')) await cancel(servers);
  if (isSelected('recovery')) await recovery(servers);
  if (isSelected('retention')) await retention(servers);
} finally {
  await servers.stop();
}
