import { createLanefold } from 'lanefold';
import agents from './agents.ts';

const lanefold = await createLanefold({ agents });
try {
  const accepted = await lanefold.runs.enqueue({
    agent: 'support',
    input: process.argv[2] ?? 'Where is my order A-17?',
  });
  const run = await lanefold.runs.wait(accepted, { timeoutMs: 120_000 });
  console.log(run.status, '–', run.result ?? run.error);
} finally {
  await lanefold.close();
}
