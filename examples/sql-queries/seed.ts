import { defineAgent, defineTool, type Lanefold } from 'lanefold';
import { z } from 'zod';

const orderStatus = defineTool({
  name: 'order_status',
  description: 'Where an order is.',
  input: z.object({ orderId: z.string() }),
  execute: ({ orderId }) => ({ orderId, state: 'shipped' }),
});

/** Offline and deterministic: this example is about the tables, not about the model. */
export const agents = [
  defineAgent({
    name: 'support',
    model: `scripted:${JSON.stringify([{ tool: 'order_status', args: { orderId: 'A-17' } }, 'Your order A-17 is on its way.'])}`,
    instructions: 'You help customers with their orders.',
    tools: [orderStatus],
  }),
];

/** Two runs on the thread orders-42, the second on a replaced lane, and one on orders-43 that hits its iteration limit. Needs a worker. */
export async function seed(lanefold: Lanefold): Promise<void> {
  const ask = async (input: string, more: { contextRef?: string; model?: string; maxIterations?: number } = {}) => {
    const threadId = more.maxIterations ? 'orders-43' : 'orders-42';
    const run = await lanefold.runs.enqueue({
      agent: 'support',
      input,
      threadId,
      createThread: true,
      busy: 'wait',
      ...more,
    });
    await lanefold.runs.wait(run, { timeoutMs: 60_000 });
  };
  await ask('Where is my order A-17?');
  await lanefold.contexts.replace(
    'orders-42',
    { entries: [{ role: 'user', content: 'I asked about order A-17.' }] },
    { contextRef: 'draft' },
  );
  await ask('Write to the customer.', {
    contextRef: 'draft',
    model: 'scripted:["Dear customer, your lamp is on its way."]',
  });
  await ask('Loop.', { model: 'scripted:[{"tool":"order_status","args":{"orderId":"A-17"}}]', maxIterations: 2 });
}
