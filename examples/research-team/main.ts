import { createLanefold, type RunTree } from 'lanefold';
import agents from './agents.ts';

const lanefold = await createLanefold({
  agents,
  migrate: true,
  // stands in for the list price of a provider, so that the offline models cost something
  priceOf: ({ model, inputTokens, outputTokens }) =>
    model.startsWith('scripted:') ? (inputTokens * 0.25 + outputTokens * 2) / 1_000_000 : undefined,
});
try {
  await lanefold.startWorker();
  const run = await lanefold.runs.enqueue({ agent: 'editor', input: process.argv[2] ?? 'Write about Berlin.' });
  const { status, result, error } = await lanefold.runs.wait(run, { timeoutMs: 10 * 60_000 });
  console.log(`${status}: ${result ?? error?.message}\n`);

  // the archivist was not waited for
  for (const one of (await lanefold.runs.tree(run)).runs) await lanefold.runs.wait(one, { timeoutMs: 60_000 });
  show(await lanefold.runs.tree(run));
} finally {
  await lanefold.close();
}

function show({ runs, usage, cost }: RunTree): void {
  for (const one of inOrder(runs, null)) console.log(line('  '.repeat(one.depth) + one.agent, one.status, one));
  console.log(line('all', '', { usage, cost }));
}

/** Every run before those that it started. */
function inOrder(runs: RunTree['runs'], parent: string | null): RunTree['runs'] {
  const started = runs.filter((run) => (run.parent?.id ?? null) === parent);
  return started.flatMap((run) => [run, ...inOrder(runs, run.id)]);
}

function line(name: string, state: string, { usage, cost }: Pick<RunTree, 'usage' | 'cost'>): string {
  const tokens = (usage?.input_tokens ?? 0) + (usage?.output_tokens ?? 0);
  const price = cost === null ? 'price unknown' : `$${cost.toFixed(6)}`;
  return `${name.padEnd(20)} ${state.padEnd(10)} ${String(tokens).padStart(6)} tokens  ${price}`;
}
