import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { bodyOf, templateProblem } from '../../src/features/webhooks/definition/body-template.ts';
import { cases } from '../support/cases.ts';

const event = (data: Record<string, unknown>) => ({ type: 'run.failed', timestamp: '2026-11-29T10:00:00Z', data });

describe('the template of a webhook', () => {
  test('makes the body that Slack expects', () => {
    const template = { text: '{{type}}: {{ data.agent }} says {{data.error.message}}', unfurl_links: false };
    expect(templateProblem(template)).toBeUndefined();
    const data = { agent: 'support', error: { type: 'x', message: 'It "broke".\n</end>' } };
    expect(JSON.parse(bodyOf(template, event(data), 'msg_1'))).toEqual({
      text: 'run.failed: support says It "broke".\n</end>',
      unfurl_links: false,
    });
  });

  test('writes objects as JSON, and nothing for what an event does not have', () => {
    const template = {
      a: '{{data.usage}}',
      b: '[{{data.result}}]',
      c: ['{{id}}', 7, null],
      d: '{{data.newest.0.run_id}}',
    };
    const data = { usage: { input_tokens: 1 }, newest: [{ run_id: 'r' }] };
    expect(JSON.parse(bodyOf(template, event(data), 'msg_1'))).toEqual({
      a: '{"input_tokens":1}',
      b: '[]',
      c: ['msg_1', 7, null],
      d: 'r',
    });
  });

  test.each([
    [{ text: '{{data.nothing}}' }, 'unknown placeholder {{data.nothing}}'],
    [{ text: '{{secrets}}' }, 'unknown placeholder {{secrets}}'],
    [{ text: '{{data.error.__proto__ }} {{data.error[0]}}' }, 'unknown placeholder'],
    [{ text: '{{type' }, 'incomplete placeholder'],
    [{ text: 'type}}' }, 'incomplete placeholder'],
    [{ '{{type}}': 1 }, 'in the name'],
    [{ deep: [[[[[[[[[['{{type}}']]]]]]]]]] }, 'levels'],
    [{ text: 'x'.repeat(9_000) }, 'bytes'],
    [{ text: '{{type}}'.repeat(51) }, 'at most 50 placeholders'],
    [['{{type}}'], 'JSON object'],
    ['{{type}}', 'JSON object'],
  ])('no. %# is refused', (template, problem) => {
    expect(templateProblem(template)).toContain(problem);
  });

  /** The places of a value, and what is not text. */
  const shape = (value: unknown): unknown => {
    if (typeof value === 'string') return 'text';
    if (Array.isArray(value)) return value.map(shape);
    if (typeof value === 'object' && value !== null)
      return Object.entries(value).map(([key, item]) => [key, shape(item)]);
    return value;
  };
  const hostile = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom(
      '"',
      '"}',
      '\\',
      '\\"',
      '","text":"',
      '{{type}}',
      '{{data.result}}',
      '\u2028',
      '\ud800',
      '</script>',
      '\0',
      '$&',
    ),
    fc
      .array(fc.constantFrom('"', '\\', '}', '{', '{{', '}}', ',', ':', '\n'), { maxLength: 20 })
      .map((parts) => parts.join('')),
  );

  test('keeps whatever values it gets inside of their texts, once', () => {
    const template = {
      text: 'A {{data.result}} B',
      list: ['{{data.agent}}{{data.result}}', { of: '{{data.error.message}}' }, 1],
    };
    fc.assert(
      fc.property(hostile, hostile, hostile, (result, agent, message) => {
        const body = bodyOf(template, event({ result, agent, error: { message } }), 'msg_1');
        const read = JSON.parse(body) as typeof template;
        expect(shape(read)).toEqual(shape(template));
        expect(read.text).toBe(`A ${result} B`);
        expect(read.list).toEqual([`${agent}${result}`, { of: message }, 1]);
      }),
      { numRuns: cases(300) },
    );
  });

  test('cuts a long value between characters', () => {
    const text = (
      JSON.parse(bodyOf({ text: '{{data.result}}' }, event({ result: `a${'😀'.repeat(9_000)}` }), 'm')) as {
        text: string;
      }
    ).text;
    expect(text.length).toBeLessThanOrEqual(4_001);
    expect(text.isWellFormed()).toBe(true);
    expect(text.endsWith('😀…')).toBe(true);
  });
});
