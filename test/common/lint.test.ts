// @module-tag slow
import { readdirSync } from 'node:fs';
import { ESLint } from 'eslint';
import { expect, test } from 'vitest';

const eslint = new ESLint();
const refusals = async (text: string, filePath: string, rule = /^no-restricted-syntax$/) => {
  const [result] = await eslint.lintText(`${text}\n`, { filePath });
  return result!.messages.filter(({ ruleId }) => rule.test(ruleId ?? '')).length;
};

test.each([
  'setTimeout(act, ms);',
  'globalThis.setInterval(act, ms);',
  'export const signal = AbortSignal.timeout(ms);',
  "import { setTimeout as wait } from 'node:timers/promises';",
  "import { setInterval } from 'timers';",
  "import * as timers from 'node:timers';",
  "import pTimeout from 'p-timeout';",
  "signal.addEventListener('abort', act);",
  "signal?.addEventListener('abort', act);",
  'export const due = Date.now() + ms;',
  'export const now = new Date();',
  'export const pattern = new RegExp(`<${tag}`);',
  'export const pattern = RegExp(source);',
  'export const found = text.match(`${name}:`);',
  "export const at = text.search('a+');",
])('product code does not contain: %s', async (text) => {
  expect(await refusals(text, 'src/worker/process/some.ts')).toBe(1);
});

test.each([
  'export default JSON.parse(text);',
  'export default texts.map(JSON.parse);',
  'export const read = JSON.parse;',
  "export default JSON['parse'](text);",
  'export const { parse } = JSON;',
  'export default await response.json();',
  'export default await c.req.json();',
  "import { json } from 'node:stream/consumers';",
])('JSON of others is read by one reader, and not by: %s', async (text) => {
  expect(await refusals(text, 'src/server/some.ts')).toBe(1);
});

test('a value may be copied through JSON, and an answer may be JSON', async () => {
  const text = 'export default [JSON.parse(JSON.stringify(value)), c.json({ ok: true }), Response.json({})];';
  expect(await refusals(text, 'src/server/some.ts')).toBe(0);
});

// `npm run check` looks at what is in them
test.each([
  'workers',
  ...readdirSync('src')
    .filter((name) => !name.includes('.'))
    .map((name) => `src/${name}`),
])('JSON is read with that reader in %s', async (folder) => {
  expect(await refusals('export default JSON.parse(text);', `${folder}/some.ts`)).toBe(1);
  expect(await refusals('export default JSON.parse(text);', `${folder}/deeper/some.tsx`)).toBe(1);
});

test('a turn of the event loop is no timer, and a known time no clock', async () => {
  const text = "import { setImmediate as turn } from 'node:timers/promises';\nexport default [turn, new Date(0)];";
  expect(await refusals(text, 'src/worker/process/some.ts')).toBe(0);
});

test('timers are restricted in browsers as well', async () => {
  for (const file of ['src/doors/client/some.ts', 'src/doors/react/some.ts'])
    expect(await refusals('setTimeout(act, ms);', file)).toBe(1);
});

test.each([
  'export const tag = /<(?=\\s*\\/?\\s*question\\b)/giu;',
  'export const placeholder = /\\{\\{\\s*([^{}]*?)\\s*\\}\\}/g;',
  'export const mark = /^[-*\\s]*(\\p{L}+)\\**:\\**(.*)$/u;',
  'export const end = (text: string) => text.replace(/\\s+$/, "");',
])('a pattern that takes more than linear time is refused: %s', async (text) => {
  for (const file of ['src/agent/strategies/some.ts', 'page/views/some.tsx'])
    expect(await refusals(text, file, /^regexp\/no-super-linear/)).toBeGreaterThan(0);
});

test('one module builds patterns', async () => {
  expect(await refusals('export const pattern = new RegExp(source);', 'src/base/redaction/sensitive-keys.ts')).toBe(0);
});
