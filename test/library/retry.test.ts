import { defineAgent } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { contextOf } from '../support/log.ts';
import { deferred } from '../support/until.ts';
import { startRuntime, unset, type Runtime } from '../runtime/helpers.ts';

describe('runs.retry', () => {
  let lanefold: Runtime;
  beforeAll(async () => {
    lanefold = await startRuntime([defineAgent({ name: 'a', model: unset, maxModelRetries: 0 })]);
  });
  afterAll(() => lanefold?.close());

  /** A run that has failed, and whose model answers from now on. */
  async function failed(options: { onFailure?: 'rewind' } = {}) {
    let down = true;
    const model = lanefold.model(async () => {
      if (down) throw new Error('down');
      return { text: 'fine' };
    });
    const input = [{ type: 'text' as const, text: 'do it' }];
    const extraRefs = { ticket: 7 };
    const run = await lanefold.runs.enqueue({
      agent: 'a',
      model: model.id,
      input,
      extraRefs,
      maxIterations: 3,
      ...options,
    });
    expect((await lanefold.runs.wait(run)).status).toBe('failed');
    down = false;
    return run;
  }

  test('asks again with the same input, model and options, and says what it repeats', async () => {
    const run = await failed({ onFailure: 'rewind' });
    const again = await lanefold.runs.retry(run);
    expect(again).toMatchObject({ threadId: run.threadId, duplicate: false });
    expect(await lanefold.runs.wait(again)).toMatchObject({ status: 'completed', result: 'fine', retryOf: run.id });
    expect((await lanefold.runs.get(run)).retryOf).toBeNull();
    expect(await contextOf(lanefold, run.threadId)).toEqual([
      ['user', [{ type: 'text', text: 'do it' }]],
      ['assistant', 'fine'],
    ]);
    const { rows } = await lanefold.database.pool.query(
      `select r.options ->> 'max_iterations' as most, e.refs -> 'ticket' as ticket from lanefold.run r
       join lanefold.thread_entry e on e.thread_id = r.thread_id and e.seq = r.user_seq where r.id = $1`,
      [again.id],
    );
    expect(rows).toEqual([{ most: '3', ticket: 7 }]);
  });

  test('starts one run for a request id, and another each time without', async () => {
    const run = await failed();
    const once = await lanefold.runs.retry(run, { requestId: 'once' });
    expect(await lanefold.runs.retry(run, { requestId: 'once' })).toMatchObject({ id: once.id, duplicate: true });
    await lanefold.runs.wait(once);
    const more = await lanefold.runs.retry(once);
    expect(more.id).not.toBe(once.id);
    expect(await lanefold.runs.wait(more)).toMatchObject({ retryOf: once.id });
  });

  test('works for a run that was cancelled before it began', async () => {
    const gate = deferred();
    const slow = lanefold.model(async () => gate.promise.then(() => ({ text: 'one' })));
    const first = await lanefold.runs.enqueue({ agent: 'a', model: slow.id, input: 'first' });
    const second = { agent: 'a', model: slow.id, input: 'second', threadId: first.threadId, busy: 'wait' as const };
    const waiting = await lanefold.runs.enqueue(second);
    await expect(lanefold.runs.retry(waiting)).rejects.toMatchObject({ code: 'run_active' });
    await lanefold.runs.cancel(waiting);
    const again = await lanefold.runs.retry(waiting, { busy: 'wait' });
    gate.resolve();
    expect(await lanefold.runs.wait(again)).toMatchObject({ status: 'completed', retryOf: waiting.id });
    expect((await contextOf(lanefold, first.threadId)).map(([, content]) => content)).toEqual([
      'first',
      'one',
      'second',
      'one',
    ]);
  });

  test('refuses a compaction, and a run that never began and has lost its trace', async () => {
    const { threadId } = await failed();
    const compaction = await lanefold.contexts.compact(threadId);
    await lanefold.runs.wait(compaction);
    const late = await lanefold.runs.enqueue({ agent: 'a', input: 'late', threadId, delayMs: 3_600_000 });
    await lanefold.runs.cancel(late);
    await lanefold.database.pool.query('select lanefold.drop_trace($1, $2)', [threadId, [late.id]]);
    for (const { id } of [compaction, late]) {
      const message = `Run ${id} has no stored input to repeat.`;
      await expect(lanefold.runs.retry({ threadId, id })).rejects.toMatchObject({ code: 'invalid_input', message });
    }
  });

  test('refuses what it cannot do, and writes nothing', async () => {
    const run = await failed();
    await expect(lanefold.runs.retry({ ...run, id: 'none' })).rejects.toMatchObject({ code: 'run_not_found' });
    await expect(lanefold.runs.retry(run, { model: 'nobody:x' })).rejects.toMatchObject({ code: 'unknown_model' });
    expect((await lanefold.runs.list({ threadId: run.threadId })).data).toHaveLength(1);
  });
});
