import { clientTool, defineAgent, defineTool, withEffects } from 'lanefold';
import { z } from 'zod';
import { model } from '../model.ts';

const lookUpOrder = defineTool({
  name: 'look_up_order',
  description: 'The state of an order',
  input: z.object({ order: z.string() }),
  execute: ({ order }) =>
    withEffects({ order, state: 'delivered', amount: 49 }, [{ op: 'set_path', path: ['order'], value: order }]),
});

const refund = defineTool({
  name: 'refund',
  description: 'Refunds the price of an order. The customer confirms it first.',
  input: z.object({ order: z.string() }),
  needsApproval: true,
  replay: 'never',
  execute: ({ order }) => ({ order, refunded: 49 }),
});

/** The page runs it. */
const setTitle = clientTool({
  name: 'set_title',
  description: 'Sets the title of the page that the customer sees.',
  input: z.object({ title: z.string() }),
  timeoutMs: 60_000,
});

export default [
  defineAgent({
    name: 'shop',
    model,
    instructions: 'You help customers of a shop.',
    tools: [lookUpOrder, refund, setTitle],
  }),
];
