import { createLanefold } from 'lanefold';
import { failIf, toMarkdown } from 'lanefold/evals';
import { a, b, questions } from './agents.ts';

const condition = 'pass_rate < baseline';
// A separate queue: other workers on this database do not know the agent.
const lanefold = await createLanefold({
  agents: [a, b],
  migrate: true,
  queuePrefix: 'example-evals',
  privateQueue: true,
});

try {
  await lanefold.startWorker();
  const dataset = `questions-${Date.now()}`;
  for (const { input, contains } of questions) {
    const run = await lanefold.runs.enqueue({ agent: 'support', input });
    await lanefold.runs.wait(run, { timeoutMs: 60_000 });
    await lanefold.cases.keep({ threadId: run.threadId, runId: run.id, dataset, expected: { contains } });
  }
  const { id } = await lanefold.evals.run({ dataset, variants: [{ version: 'a' }, { version: 'b' }] });
  await lanefold.evals.wait(id, { timeoutMs: 120_000 });
  const report = await lanefold.evals.report(id);
  console.log(toMarkdown(report));
  const { failed, reasons } = failIf(condition, report);
  for (const reason of reasons) console.error(reason);
  if (failed) process.exitCode = 1;
} finally {
  await lanefold.close();
}
