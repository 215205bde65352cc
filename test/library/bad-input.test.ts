import { defineAgent, type ContentPart, type EnqueueOptions } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { noRedis, startLanefold, type TestLanefold } from '../support/lanefold.ts';

const agents = [
  defineAgent({ name: 'a', model: 'scripted:echo' }),
  defineAgent({ name: 'keyless', model: 'openai:gpt-5' }),
];
const ok: EnqueueOptions = { agent: 'a', input: 'hi' };

describe.skipIf(noRedis())('a rejected request', () => {
  let lanefold: TestLanefold;
  beforeAll(async () => {
    vi.stubEnv('OPENAI_API_KEY', undefined);
    vi.stubEnv('OPENAI_BASE_URL', undefined);
    lanefold = await startLanefold({ agents });
    // Without a worker the thread stays busy.
    await lanefold.runs.enqueue({ ...ok, threadId: 'busy', createThread: true, requestId: 'r1' });
    await lanefold.threads.create({ id: 'idle' });
    await lanefold.threads.create({ id: 'gone' });
    await lanefold.threads.erase('gone');
  });
  afterAll(async () => {
    vi.unstubAllEnvs();
    await lanefold?.close();
  });

  const storedRows = async () => {
    const { rows } = await lanefold.database.pool.query(
      `select (select json_agg(t order by id) from lanefold.thread t) as threads,
         (select json_agg(r order by id) from lanefold._run r) as runs,
         (select count(*) from lanefold.thread_entry) as entries, (select count(*) from lanefold.run_event) as events`,
    );
    return rows[0];
  };

  const cases: [string, string, Partial<Record<keyof EnqueueOptions, unknown>>][] = [
    ['an unknown agent', 'unknown_agent', { agent: 'b' }],
    ['an unknown model', 'unknown_model', { model: 'nobody:m' }],
    ['a malformed script', 'unknown_model', { model: 'scripted:[' }],
    ['a thread id with a space', 'invalid_id', { threadId: 'a b', createThread: true }],
    ['an empty thread id', 'invalid_id', { threadId: '', createThread: true }],
    ['a thread id of 129 bytes', 'invalid_id', { threadId: 'x'.repeat(129), createThread: true }],
    ['a request id that starts with a dash', 'invalid_id', { requestId: '-r' }],
    ['a lane that is not a string', 'invalid_id', { contextRef: 7 }],
    ['an empty input', 'empty_content', { input: '' }],
    ['a blank input', 'empty_content', { input: ' \n\u0085\u00a0\u3000' }],
    ['a blank part', 'empty_content', { input: [{ type: 'text', text: '\u00a0' }] }],
    ['refs of the runtime', 'invalid_input', { extraRefs: { durable: true } }],
    ['an input without parts', 'empty_content', { input: [] }],
    ['no input', 'invalid_input', { input: undefined }],
    ['an input that is a number', 'invalid_input', { input: 7 }],
    ['a part of an unknown type', 'invalid_input', { input: [{ type: 'smell' }] as ContentPart[] }],
    ['a file without data', 'invalid_input', { input: [{ type: 'file', media_type: 'image/png' }] }],
    ['an image_url without a url', 'invalid_input', { input: [{ type: 'image_url', image_url: {} }] }],
    ['an image that is not base64', 'invalid_input', { input: [{ type: 'image', image: 'no image' }] }],
    ['an image of no bytes', 'invalid_input', { input: [{ type: 'image', image: new Uint8Array() }] }],
    ['a part that is null', 'invalid_input', { input: [null] }],
    ['a limit of 0 iterations', 'invalid_input', { maxIterations: 0 }],
    ['a fractional limit of iterations', 'invalid_input', { maxIterations: 1.5 }],
    ['NUL in the input', 'invalid_text', { input: 'a\u0000' }],
    ['a lone surrogate in a part', 'invalid_text', { input: [{ type: 'text', text: '\ud800' }] }],
    ['NUL in a key of the tool context', 'invalid_text', { toolContext: { 'k\u0000': 1 } }],
    ['NUL in the refs', 'invalid_text', { extraRefs: { a: ['\u0000'] } }],
    ['a busy thread', 'thread_busy', { threadId: 'busy' }],
    ['an unknown thread', 'thread_not_found', { threadId: 'nowhere' }],
    ['an erased thread', 'thread_erased', { threadId: 'gone' }],
    [
      'a known request id with a different body',
      'idempotency_mismatch',
      { threadId: 'busy', requestId: 'r1', input: 'ho' },
    ],
  ];

  test.each(cases)('%s: fails with %s and writes nothing', async (_, code, options) => {
    const before = await storedRows();
    const error = await lanefold.runs.enqueue({ ...ok, ...options } as EnqueueOptions).catch((e: unknown) => e);
    expect(error).toMatchObject({ name: 'LanefoldError', code, hint: expect.stringMatching(/\w/) });
    expect(await storedRows()).toEqual(before);
  });

  test('a missing provider key: the error names the variable', async () => {
    const before = await storedRows();
    const error = await lanefold.runs.enqueue({ ...ok, agent: 'keyless' }).catch((e: unknown) => e as Error);
    expect(error).toMatchObject({ code: 'missing_provider_key' });
    expect(`${(error as Error).message} ${(error as { hint?: string }).hint}`).toContain('OPENAI_API_KEY');
    expect(await storedRows()).toEqual(before);
  });

  test('an unknown run: get, wait and cancel fail', async () => {
    const unknownRun = { threadId: 'idle', id: 'run_x' };
    await expect(lanefold.runs.get(unknownRun)).rejects.toMatchObject({ code: 'run_not_found' });
    await expect(lanefold.runs.wait(unknownRun)).rejects.toMatchObject({ code: 'run_not_found' });
    await expect(lanefold.runs.cancel(unknownRun)).rejects.toMatchObject({ code: 'run_not_found' });
    await expect(lanefold.runs.cancel({ threadId: 'nowhere', id: 'run_x' })).rejects.toMatchObject({
      code: 'thread_not_found',
    });
  });
});
