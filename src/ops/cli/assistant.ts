import { defineAgent } from '../../agent/definition/agent.ts';
import { overridableFields } from '../../agent/definition/overridable.ts';
import { defineTool } from '../../agent/tools/define-tool.ts';
import { ToolError } from '../../agent/tools/tool-error.ts';

const clock = defineTool({
  name: 'clock',
  description: 'Returns the current date and time in UTC.',
  input: { type: 'object', properties: {}, additionalProperties: false },
  execute: () => ({ utc: new Date().toISOString() }),
});

/** The model of the assistant: scripted and offline, without an API key. */
export const demoModel = 'scripted:demo';

/** Evaluates arithmetic offline. */
const calculator = defineTool<{ expression: string }>({
  name: 'calculator',
  description: 'Evaluates an arithmetic expression with + - * / % ^ and parentheses.',
  input: {
    type: 'object',
    properties: { expression: { type: 'string', description: 'For example 12 * (3 + 4)' } },
    required: ['expression'],
    additionalProperties: false,
  },
  execute: ({ expression }) => ({ expression, value: calculate(String(expression)) }),
});

const maxLength = 1_000;

/**
 * Evaluates an arithmetic expression. `^` is right-associative and binds tighter than unary minus: `-2 ^ 2 = -4`.
 *
 * @throws ToolError `invalid_expression`
 */
export function calculate(expression: string): number {
  const tokens = expression.match(/\d+(?:\.\d*)?(?:e[+-]?\d+)?|\.\d+|[^\s]/gi) ?? [];
  let at = 0;
  const fail = (why: string) =>
    new ToolError(`Cannot evaluate ${expression.slice(0, 100)}: ${why}`, {
      type: 'invalid_expression',
      retryable: false,
    });
  if (expression.length > maxLength) throw fail(`it is longer than ${maxLength} characters`);

  const sum = (): number => {
    let value = product();
    while (tokens[at] === '+' || tokens[at] === '-')
      value = tokens[at++] === '+' ? value + product() : value - product();
    return value;
  };
  const product = (): number => {
    let value = signed();
    for (let sign = tokens[at]; sign === '*' || sign === '/' || sign === '%'; sign = tokens[at]) {
      at += 1;
      const right = signed();
      value = sign === '*' ? value * right : sign === '/' ? value / right : value % right;
    }
    return value;
  };
  const signed = (): number => {
    if (tokens[at] === '-' || tokens[at] === '+') return tokens[at++] === '-' ? -signed() : signed();
    const base = atom();
    if (tokens[at] !== '^') return base;
    at += 1;
    return base ** signed();
  };
  const atom = (): number => {
    const token = tokens[at++];
    if (token === undefined) throw fail('it is incomplete');
    if (token !== '(') {
      if (/^[\d.]/.test(token) && Number.isFinite(Number(token))) return Number(token);
      throw fail(`${JSON.stringify(token)} is unexpected`);
    }
    const value = sum();
    if (tokens[at++] !== ')') throw fail('a closing parenthesis is missing');
    return value;
  };

  const value = sum();
  if (at < tokens.length) throw fail(`${JSON.stringify(tokens[at])} is unexpected`);
  if (!Number.isFinite(value)) throw fail('the result is not a finite number');
  return value;
}

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
