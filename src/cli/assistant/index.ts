import { defineAgent } from '../../agents/agent.ts';
import { defineTool } from '../../tools/define-tool.ts';
import { calculator } from './calculator.ts';
import { demoModel } from './model.ts';

const clock = defineTool({
  name: 'clock',
  description: 'Tells the current date and time in UTC.',
  input: { type: 'object', properties: {}, additionalProperties: false },
  execute: () => ({ utc: new Date().toISOString() }),
});

/** The agent of those who have none yet: two small tools, no network, no key. */
export const assistant = defineAgent({
  name: 'assistant',
  model: demoModel,
  instructions: 'You are a helpful assistant. Use the calculator for arithmetic and the clock for the time.',
  // the demo script falls back to the first tool, and the clock answers anything
  tools: [clock, calculator],
});
