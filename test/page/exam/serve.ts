/** Serves the exam to a person: `npx tsx test/page/exam/serve.ts`. The answers are in docs/reference/page.md. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createLanefold } from 'lanefold';
import { examAgents, examModels } from './agents.ts';
import { conversations, seedExam } from './conversations.ts';

const lanefold = await createLanefold({
  agents: examAgents,
  models: examModels,
  redisUrl: null,
  embeddedDir: mkdtempSync(path.join(tmpdir(), 'lanefold-exam-')),
});
await lanefold.startWorker();
await seedExam(lanefold);
const { url } = await lanefold.startServer({ port: Number(process.argv[2] ?? 0) });
console.log(`${url}\n\nWhat went wrong, and where does one see it?\n`);
for (const { thread, complaint } of conversations) console.log(`${thread}  ${complaint}`);
