import { defineAgent } from '../../../agent/definition/agent.ts';
import { overridableFields } from '../../../agent/definition/overridable.ts';
import { defineTool } from '../../../agent/tools/define-tool.ts';
import { calculator } from './calculator.ts';
import { demoModel } from './model.ts';

const clock = defineTool({
  name: 'clock',
  description: 'Returns the current date and time in UTC.',
  input: { type: 'object', properties: {}, additionalProperties: false },
  execute: () => ({ utc: new Date().toISOString() }),
});

/** The default agent: two small tools, no network, no API key. */
export const assistant = defineAgent({
  name: 'assistant',
  model: demoModel,
  instructions: 'You are a helpful assistant. Use the calculator for arithmetic and the clock for the time.',
  // The demo script falls back to the first tool, and the clock accepts any question.
  tools: [clock, calculator],
  // This agent is for trying things out, and its tools cannot do harm.
  overridable: { http: overridableFields },
});
