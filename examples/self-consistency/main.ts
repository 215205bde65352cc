import { createLanefold, defineAgent } from 'lanefold';
import { model as chosen } from '../model.ts';
import { selfConsistency } from './strategy.ts';

// offline, a script gives every sample the same answer
const model = chosen === 'scripted:demo' ? 'scripted:["3 + 4 is 7, and 12 * 7 is 84.\\nAnswer: 84"]' : chosen;
const agents = [defineAgent({ name: 'voter', model, strategy: selfConsistency, strategyOptions: { samples: 5 } })];
// A separate queue: other workers on this database do not know the agent.
const lanefold = await createLanefold({ agents, migrate: true, queuePrefix: 'example-voting', privateQueue: true });

try {
  await lanefold.startWorker();
  const run = await lanefold.runs.enqueue({ agent: 'voter', input: 'What is 12 * (3 + 4)?' });
  const { status, result, error, usage } = await lanefold.runs.wait(run, { timeoutMs: 120_000 });
  if (error) throw new Error(error.message);
  console.log(`${status}: ${JSON.stringify(result)}, ${usage?.total_tokens} tokens`);
  for (const { node, content } of await lanefold.runs.nodes(run))
    console.log(`  sample ${node}: ${content?.split('\n').at(-1)}`);
} finally {
  await lanefold.close();
}
