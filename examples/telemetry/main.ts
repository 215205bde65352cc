import { trace } from '@opentelemetry/api';
import { createLanefold, defineAgent, defineTool } from 'lanefold';
import { z } from 'zod';
import { model } from '../model.ts';
import { provider } from './otel.ts';

const tracer = trace.getTracer('shop');

const stock = defineTool({
  name: 'stock',
  description: 'How many of an article are in stock.',
  input: z.object({ article: z.string() }),
  // whatever the tool traces is below the span of its call
  execute: ({ article }) =>
    tracer.startActiveSpan('query stock', (span) => {
      span.end();
      return { article, pieces: 12 };
    }),
});

// The offline model calls the tool, then answers; a real one decides for itself.
const offline = 'scripted:[{"tool":"stock","args":{"article":"lamp"}},"There are 12 lamps."]';
const clerk = defineAgent({
  name: 'clerk',
  instructions: 'You answer questions about the stock.',
  tools: [stock],
  model: model.startsWith('scripted:') ? offline : model,
});

const lanefold = await createLanefold({
  agents: [clerk],
  telemetry: true,
  migrate: true,
  // other workers on this database do not know the agent
  queuePrefix: 'example-telemetry',
  privateQueue: true,
});
await lanefold.startWorker();

// The run continues the trace of the request that enqueues it, although another process may execute it.
await tracer.startActiveSpan('POST /question', async (request) => {
  const run = await lanefold.runs.enqueue({ agent: 'clerk', input: 'How many lamps do we have?' });
  request.end();
  const { result, usage } = await lanefold.runs.wait(run, { timeoutMs: 120_000 });
  console.log(`${String(result)} (${usage?.input_tokens} + ${usage?.output_tokens} tokens)`);
});

await lanefold.close();
await provider.shutdown();
