import { defineAgent } from '../../../agent/definition/agent.ts';
import { defineTool } from '../../../agent/tools/define-tool.ts';
import { calculator } from '../assistant/calculator.ts';

const weather = defineTool({
  name: 'weather',
  description: 'Returns the weather in a city.',
  input: {
    type: 'object',
    properties: { city: { type: 'string', description: 'Name of the city' } },
    required: ['city'],
    additionalProperties: false,
  },
  execute: () => ({ sky: 'sunny', celsius: 21 }),
});

export const question = 'What is the weather in Lisbon, and how much is 12 * 7?';

/** The agent of the demo: two tools and an offline model that always gives the same answers. */
export const demoAgent = defineAgent({
  name: 'demo',
  model:
    'scripted:' +
    JSON.stringify([
      {
        tools: [
          { tool: 'weather', args: { city: 'Lisbon' } },
          { tool: 'calculator', args: { expression: '12 * 7' } },
        ],
      },
      'It is sunny in Lisbon, 21 °C, and 12 * 7 is 84.',
    ]),
  instructions: 'You are a helpful assistant. Use your tools.',
  tools: [weather, calculator],
});
