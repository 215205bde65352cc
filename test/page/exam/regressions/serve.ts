/**
 * Serves an exam: ten versions of an agent, each with one planted regression. To be found with the page alone.
 *
 *     npx tsx test/page/exam/regressions/serve.ts [seed] [port]
 *
 * The seed decides which version has which regression; the answers are written to a file that you open afterwards.
 */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createLanefold } from 'lanefold';
import { plant, shopVersions } from './regressions.ts';
import { seedRegressions, shopModels, shopPrice } from './seed.ts';

const [seed = 1, port = 0] = process.argv.slice(2).map(Number);
const planted = plant(seed);
const folder = mkdtempSync(path.join(tmpdir(), 'lanefold-exam-'));
const key = path.join(folder, 'answers.json');
const answers = planted.map(({ label, name, worse, field, mechanism }) => ({ label, name, worse, field, mechanism }));
writeFileSync(key, JSON.stringify(answers, null, 2));

const lanefold = await createLanefold({
  agents: shopVersions(planted),
  models: shopModels,
  priceOf: shopPrice,
  redisUrl: null,
  embeddedDir: folder,
});
await lanefold.startWorker({ concurrency: 16, sweepMs: 500 });
console.log('Asking each question under each version; this takes about a minute.');
await seedRegressions(lanefold, planted);
const { url } = await lanefold.startServer({ port });
console.log(`${url}

Version "base" of the agent "shop" was good. Each of v1 to v10 changes one thing, and something became worse.
Use the page alone. For each version, in under two minutes:

  1. Which cases got worse? (or what else did, if the answers are as good)
  2. What did the version change?
  3. How does the change explain it?
`);
for (const { label } of planted) console.log(`${label.padEnd(4)} 1.                     2.                     3.`);
console.log(`\nThe answers are in ${key}. Stop with Ctrl+C.`);
