// @module-tag slow
import { defineAgent, defineTool } from 'lanefold';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { newKey } from '../../src/base/access/principal.ts';
import { redactSecrets, createKeyRedactor } from '../../src/base/redaction/sensitive-keys.ts';
import { contextOf, eventsOf } from '../support/log.ts';
import { until } from '../support/until.ts';
import { startRuntime, unset, type Runtime } from '../runtime/helpers.ts';

const secret = 'hunter2-hunter2';
const quoted = `the request {"user":"ann","password":"${secret}"} with pin=${secret} was refused`;

describe('a redactor', () => {
  const { value, text } = createKeyRedactor(['password', 'pin', 'x.y']);

  test('redacts the values of exactly its keys, in any case and at any depth', () => {
    const given = { PIN: 7, pins: 8, a: [{ Password: { b: secret } }, { page_token: 't' }], 'x.y': 1, xzy: 2 };
    expect(value(given)).toEqual({
      PIN: '[REDACTED]',
      pins: 8,
      a: [{ Password: '[REDACTED]' }, { page_token: 't' }],
      'x.y': '[REDACTED]',
      xzy: 2,
    });
    expect(given.PIN).toBe(7);
    const innocent = { usage: { input_tokens: 3 }, list: [1, null, 'pinned: x'] };
    expect(value(innocent)).toBe(innocent);
  });

  test.each([
    [`{"password":"${secret}"}`, '{"password":"[REDACTED]"}'],
    [`sent {"password":"${secret}"}`, 'sent {"password":[REDACTED]}'],
    [`{"a":"{\\"password\\": \\"${secret} more\\"}"}`, '{"a":"{\\"password\\":\\"[REDACTED]\\"}"}'],
    [`said "{\\"password\\": \\"${secret} more\\"}"`, 'said "{\\"password\\": [REDACTED]}"'],
    ['pin=[REDACTED], user=ann', 'pin=[REDACTED], user=ann'],
    [`password=${secret}&a=1`, 'password=[REDACTED]&a=1'],
    [`PASSWORD: ${secret}, pin : '${secret} and'`, 'PASSWORD: [REDACTED], pin : [REDACTED]'],
    [`pin: Bearer ${secret}`, 'pin: [REDACTED]'],
    [`{"a":1,"Password":{"access":"${secret}","b":["${secret}"]}}`, '{"a":1,"Password":"[REDACTED]"}'],
    [` [{"pin": ["${secret}", {"c": "${secret}"}], "n": 1}] `, '[{"pin":"[REDACTED]","n":1}]'],
    [`{"n": 1.0, "kept": true}`, `{"n": 1.0, "kept": true}`],
    [`refused: {"pin":{"access":"${secret}"},"b":"${secret}"}\nsee the log`, 'refused: {"pin":[REDACTED]\nsee the log'],
    [`pin=[${secret}, ${secret}]`, 'pin=[REDACTED]'],
    ['my_password: kept, the pin is kept', 'my_password: kept, the pin is kept'],
  ])('in text: %s', (given, shown) => {
    expect(text(given)).toBe(shown);
  });

  test('handles JSON of any depth', () => {
    const [open, close] = ['['.repeat(50_000), ']'.repeat(50_000)];
    expect(text(open + close)).toBe(open + close);
    expect(text(`${open}"pin=${secret}"${close}`)).not.toContain(secret);
  });

  test.each([
    ['Authorization: Bearer abc.def-123', 'Authorization: [REDACTED]'],
    ['authorization: Basic YWRhOmFkYQ==', 'authorization: [REDACTED]'],
    ['{"x-api-key":"k-1","a":1}', '{"x-api-key":"[REDACTED]","a":1}'],
    ['sent X-Api-Key: k-1 and', 'sent X-Api-Key: [REDACTED] and'],
    ['GET /x?access_token=abc123&n=1', 'GET /x?access_token=[REDACTED]&n=1'],
    ['db_password = "a b", n=1', 'db_password = [REDACTED], n=1'],
    ['password="never closed', 'password=[REDACTED]'],
    ['connect to postgres://ada:s3cret@db:5432/x', 'connect to postgres://[REDACTED]@db:5432/x'],
    ['said Bearer eyJhbGciOi1.x, then', 'said Bearer [REDACTED], then'],
    ['the bearer of this letter', 'the bearer of this letter'],
    ['{"input_tokens":3,"page":"https://a.example/b:c@d"}', '{"input_tokens":3,"page":"https://a.example/b:c@d"}'],
  ])('by default, in %s', (given, shown) => {
    expect(createKeyRedactor().text(given)).toBe(shown);
  });

  test.each([
    ['one word', 'a'.repeat(2 ** 24)],
    ['spaces after a key', `password${' '.repeat(2 ** 24)}`],
    ['an open quote', `password="${'a\\'.repeat(2 ** 23)}`],
    ['a long value', `token=${'a'.repeat(2 ** 24)}`],
    ['many keys', 'password=x '.repeat(2 ** 20)],
    ['many open quotes', `password=\\"'x `.repeat(2 ** 20)],
    ['almost URLs', '://a:'.repeat(2 ** 21)],
  ])('neither throws nor lingers on 16 MB of %s', (_, given) => {
    const cpu = process.cpuUsage();
    createKeyRedactor().text(given);
    expect(process.cpuUsage(cpu).user / 1_000).toBeLessThan(3_000);
  });

  test('finds what only JSON spells without a sign or a space', () => {
    expect(createKeyRedactor().text(String.raw`["password\u003d${secret}"]`)).not.toContain(secret);
    expect(createKeyRedactor().text(String.raw`["bearer\u0020${secret}"]`)).not.toContain(secret);
  });

  test('shows nothing of what is nested too deeply to search', () => {
    let deep: unknown = 'x';
    for (let i = 0; i < 100_000; i++) deep = { deep };
    expect(createKeyRedactor().value(deep)).toBe('[REDACTED]');
  });

  test('hides API keys and browser tokens by their form, and shows the ids of keys', () => {
    const { id, text } = newKey();
    expect(redactSecrets(`key:${id} sent ${text} and lft_eyJhIjoxfQ.c2ln, not key_live_4242424242`)).toBe(
      `key:${id} sent [redacted] and [redacted], not [redacted]`,
    );
  });

  test.each([
    'duplicate key value violates unique constraint "pk_orders"',
    'relation "pk_customer_orders_20240101" does not exist in key-value-store-v2',
    'from sk-learning import hf_datasets, key_not_found, npm_config_registry and pk_order_items_2024_archive',
    'GET http://api:8080/users/ann@example.com?x=b:c@d and http://[::1]:80/a@b',
  ])('leaves names that only begin like keys: %s', (given) => {
    expect(redactSecrets(given)).toBe(given);
  });

  test('hides keys of many providers, whole or masked by them', () => {
    const body = fc.string({ unit: fc.constantFrom(...'abcXYZ0189'), minLength: 24, maxLength: 90 });
    const prefix = fc.constantFrom(
      'sk-',
      'sk-proj-',
      'sk-ant-api03-',
      'sk_live_',
      'gsk_',
      'hf_',
      'xai-',
      'pplx-',
      'npm_',
    );
    fc.assert(
      fc.property(prefix, body, (start, end) => {
        const key = `${start}${end}7`;
        expect(redactSecrets(`the key ${key} was refused`)).toBe('the key [redacted] was refused');
      }),
    );
    expect(redactSecrets('Incorrect API key provided: sk-ab********6789.')).not.toContain('6789');
  });

  test('hides a password in a URL, whatever is in it, in errors as in traces', () => {
    const sign = fc.constantFrom(...'ab1@/?#:%!,;=&+');
    const password = fc.string({ unit: sign, minLength: 3 }).filter((text) => !/^\d{1,5}[/?#]/.test(text));
    fc.assert(
      fc.property(password, (text) => {
        const message = `connect to postgres://ada:${text}@db:5432/x as ann`;
        expect(redactSecrets(message)).toBe('connect to postgres://[redacted]@db:5432/x as ann');
        expect(createKeyRedactor().text(message)).toBe('connect to postgres://[REDACTED]@db:5432/x as ann');
      }),
    );
  });

  test('redacts the default keys unless given others or none', () => {
    expect(createKeyRedactor().value({ token: 1, client_secret: 2, tokens: 3 })).toEqual({
      token: '[REDACTED]',
      client_secret: '[REDACTED]',
      tokens: 3,
    });
    expect(createKeyRedactor([]).value({ token: 1 })).toEqual({ token: 1 });
  });
});

describe('a secret under a configured key', () => {
  let runtime: Runtime;
  const faults: unknown[] = [];
  beforeAll(async () => {
    const logIn = defineTool({
      name: 'log_in',
      input: z.object({ user: z.string(), password: z.string() }),
      execute: () => ({ pin: secret }),
    });
    const contract = { schema: z.object({ user: z.string(), password: z.string() }) };
    runtime = await startRuntime(
      [
        defineAgent({ name: 'clerk', model: unset, tools: [logIn] }),
        defineAgent({ name: 'typist', model: unset, tools: [logIn], output: contract }),
      ],
      { redactKeys: ['password', 'pin'], worker: { onError: (error) => faults.push(error) } },
    );
  });
  afterAll(() => runtime?.close());

  const call = { calls: [{ name: 'log_in', args: { user: 'ann', password: secret } }] };
  const shown = async (run: { id: string; threadId: string }) => {
    const [queue] = runtime.queues;
    const job = await until('the job has ended', async () => {
      const found = await queue!.getJob(`${run.id}.1`);
      return found?.finishedOn ? found : undefined;
    });
    const events = await eventsOf(runtime, run.threadId);
    expect(events.length).toBeGreaterThan(5);
    return JSON.stringify([events, job.asJSON(), await runtime.runs.events(run)]);
  };

  test('appears in no event, job or error of a failed run', async () => {
    const { id: model } = runtime.model((_, n) => (n === 0 ? call : new Error(quoted)));
    const run = await runtime.run({ agent: 'clerk', model, input: 'go' });
    expect(run.run).toMatchObject({ status: 'failed', error: { message: expect.stringContaining('[REDACTED]') } });
    expect(JSON.stringify(run.run)).not.toContain(secret);
    const visible = await shown(run);
    expect(visible).not.toContain(secret);
    expect(visible).toContain('was refused');
    expect(faults).toEqual([]);
  });

  test('appears in none of them for a run that answers with it, but in the log', async () => {
    const { id: model } = runtime.model([call, { text: `Use {"password": "${secret}"}.` }]);
    const run = await runtime.run({ agent: 'clerk', model, input: 'go' });
    expect(await shown(run)).not.toContain(secret);
    expect(run.run.result).toContain(secret);
    expect(await contextOf(runtime, run.threadId)).toEqual([
      ['user', 'go'],
      ['assistant', ''],
      ['tool', JSON.stringify({ pin: secret })],
      ['assistant', run.run.result],
    ]);
  });

  test('appears in none of them for an object result, which callers get unredacted', async () => {
    const answer = { user: 'ann', password: secret };
    const { id: model } = runtime.model([call, { text: JSON.stringify(answer) }]);
    const run = await runtime.run({ agent: 'typist', model, input: 'go' });
    expect(run.run).toMatchObject({ status: 'completed', result: answer });
    const visible = await shown(run);
    expect(visible).not.toContain(secret);
    expect(visible).toContain('"user":"ann"');
  });
});
