import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openLog, type TestLog } from './helpers.ts';
import { sqlRun } from './sql-run.ts';

describe('a compaction with a base', () => {
  let log: TestLog;
  beforeAll(async () => {
    log = await openLog();
  });
  afterAll(() => log.drop());

  const user = (content: string) => ({ message: { role: 'user' as const, content } });
  const summary = { entries: [{ role: 'user' as const, content: 'summary' }] };
  const seen = async (id: string) => (await log.contexts.project(id)).map((row) => row.content);

  test('carries what came after its base', async () => {
    const { id } = await log.threads.create();
    await log.threads.append(id, [user('one'), user('two'), user('three')]);
    const receipt = await log.contexts.replace(id, summary, { reason: 'compaction', baseSeq: 1 });
    expect(receipt.status).toBe('applied');
    expect(await seen(id)).toEqual(['summary', 'three']);
  });

  test('leaves what it carries with its run and its request', async () => {
    const { id } = await log.threads.create();
    await log.threads.append(id, [user('one')]);
    const run = sqlRun(log.db, id, 'run');
    await run.enqueue({ input: 'go' });
    await run.claim();
    await run.finish({ status: 'failed', reason: 'error', error: { type: 'broken', message: 'It broke.' } });
    await log.contexts.replace(id, summary, { reason: 'compaction', baseSeq: 0 });
    const [, carried] = await log.contexts.project(id);
    expect(carried).toMatchObject({ content: 'go', run_id: 'run', request_id: 'run' });
  });

  test('is stale behind a newer anchor, and changes nothing', async () => {
    const { id } = await log.threads.create();
    await log.threads.append(id, [user('one'), user('two')]);
    await log.contexts.reset(id);
    const receipt = await log.contexts.replace(id, summary, { reason: 'compaction', baseSeq: 1, opId: 'late' });
    expect(receipt).toMatchObject({ status: 'stale', opStatus: 'stale', seq: null });
    expect(await seen(id)).toEqual([]);
    expect((await log.threads.get(id)).rev).toBe(3);
    const again = await log.contexts.replace(id, summary, { reason: 'compaction', baseSeq: 1, opId: 'late' });
    expect(again).toMatchObject({ status: 'duplicate', opStatus: 'stale' });
  });

  test('is stale where its base cuts a tool group', async () => {
    const { id } = await log.threads.create();
    const calls = [{ id: 'c', name: 'look', arguments: {} }];
    await log.threads.append(id, [
      user('one'),
      { message: { role: 'assistant', content: '', tool_calls: calls } },
      { message: { role: 'tool', content: 'seen', tool_call_id: 'c', name: 'look' } },
    ]);
    const receipt = await log.contexts.replace(id, summary, { reason: 'compaction', baseSeq: 1 });
    expect(receipt.status).toBe('stale');
    expect(await seen(id)).toEqual(['one', '', 'seen']);
  });
});
