import { defineTool } from '../../../agent/tools/define-tool.ts';
import { ToolError } from '../../../agent/tools/tool-error.ts';

/** Evaluates arithmetic offline. */
export const calculator = defineTool<{ expression: string }>({
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

const longest = 1_000;

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
  if (expression.length > longest) throw fail(`it is longer than ${longest} characters`);

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
