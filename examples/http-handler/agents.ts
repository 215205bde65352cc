import { defineAgent, defineTool } from 'lanefold';
import { z } from 'zod';
import { model } from '../model.ts';

const stock = defineTool({
  name: 'stock',
  description: 'How many of an item are in stock.',
  input: z.object({ item: z.string() }),
  execute: ({ item }) => ({ item, inStock: item.length * 10 }),
});

export default [
  defineAgent({
    name: 'order-desk',
    model,
    instructions: 'You confirm orders. Check the stock first, then answer in one sentence.',
    tools: [stock],
  }),
];
