import { defineAgent, defineTool } from 'lanefold';
import { z } from 'zod';
import { model } from '../model.ts';

const lookUpOrder = defineTool({
  name: 'look_up_order',
  description: 'The state of an order',
  input: z.object({ order: z.string() }),
  execute: ({ order }) => ({ order, state: 'delivered', amount: 49 }),
});

const refund = defineTool({
  name: 'refund',
  description: 'Refunds the price of an order. The customer confirms it first.',
  input: z.object({ order: z.string() }),
  needsApproval: true,
  replay: 'never',
  execute: ({ order }) => ({ order, refunded: 49 }),
});

export default [
  defineAgent({ name: 'shop', model, instructions: 'You help customers of a shop.', tools: [lookUpOrder, refund] }),
];
