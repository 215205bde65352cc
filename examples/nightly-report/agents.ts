import { defineAgent, defineTool } from 'lanefold';
import { z } from 'zod';
import { model } from '../model.ts';

const salesOf = defineTool({
  name: 'sales_of',
  description: 'What was sold on a date.',
  input: z.object({ date: z.string().describe('Such as 2026-11-25').default('2026-11-25') }),
  execute: ({ date }) => ({ date, lamps: 12, chairs: 3, euros: 1_140 }),
});

export default [
  defineAgent({
    name: 'reporter',
    model,
    instructions: 'You write a report of three sentences on the sales of a date. Look them up first.',
    tools: [salesOf],
  }),
];
