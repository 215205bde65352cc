import { readdirSync, statSync } from 'node:fs';
import path from 'node:path';

/** Fails where the packed package is larger than people should have to download. */
const [folder = '.lanefold/package'] = process.argv.slice(2);
const most = 3_600_000;

for (const file of readdirSync(folder).filter((name) => name.endsWith('.tgz'))) {
  const { size } = statSync(path.join(folder, file));
  console.log(`${file}: ${size.toLocaleString('en')} of at most ${most.toLocaleString('en')} bytes`);
  if (size > most) process.exitCode = 1;
}
