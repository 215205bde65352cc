import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/agent/context/message.ts';
import { everythingOf, newThread, refused, rows, value, useLog } from './helpers.ts';

const log = useLog();

const say = (content: string) => ({ role: 'user' as const, content });
const append = (threadId: string, content: string, contextRef = 'default') =>
  log.threads.append(threadId, [{ contextRef, message: say(content) }]);
const contents = async (threadId: string, contextRef = 'default') =>
  (await log.contexts.project(threadId, { contextRef })).map((row) => row.content);
const activeLane = async (threadId: string) => (await log.threads.get(threadId)).activeContextRef;

describe('on an idle thread', () => {
  test('a replace is applied at once and the lane starts from it', async () => {
    const threadId = await newThread(log);
    await append(threadId, 'old');
    const receipt = await log.contexts.replace(
      threadId,
      { entries: [say('summary')] },
      { opId: 'o', reason: 'compaction', baseSeq: 0, meta: { by: 'me' } },
    );
    expect(receipt).toEqual({ opId: 'o', status: 'applied', opStatus: 'applied', seq: 1 });
    await append(threadId, 'new');
    expect(await contents(threadId)).toEqual(['summary', 'new']);
    expect((await log.contexts.project(threadId, { atSeq: 0 })).map((row) => row.content)).toEqual(['old']);
    expect((await log.threads.entries(threadId))[1]).toMatchObject({
      kind: 'ai_context_operation',
      opId: 'o',
      contextRef: 'default',
      payload: {
        op_id: 'o',
        context_ref: 'default',
        operation: {
          type: 'replace',
          reason: 'compaction',
          base_seq: 0,
          meta: { by: 'me' },
          result_context: { entries: [say('summary')] },
        },
      },
    });
  });

  test('a replace with no entries empties the lane', async () => {
    const threadId = await newThread(log);
    await append(threadId, 'old');
    await log.contexts.replace(threadId, { entries: [] });
    expect(await contents(threadId)).toEqual([]);
  });

  test('a replace leaves other lanes alone and makes its own the active one', async () => {
    const threadId = await newThread(log);
    await append(threadId, 'here');
    await log.contexts.replace(threadId, { entries: [say('there')] }, { contextRef: 'plan' });
    expect(await contents(threadId)).toEqual(['here']);
    expect(await contents(threadId, 'plan')).toEqual(['there']);
    expect(await activeLane(threadId)).toBe('plan');
  });

  test('a switch changes the active lane and no context, and drops a result_context', async () => {
    const threadId = await newThread(log);
    await append(threadId, 'here');
    const operation = { type: 'switch', result_context: { entries: [say('ignored')] } };
    await value(log.db, 'select lanefold.apply_operation($1, $2, $3, $4)', threadId, 's', 'plan', operation);
    expect(await activeLane(threadId)).toBe('plan');
    expect(await contents(threadId, 'plan')).toEqual([]);
    expect((await log.threads.entries(threadId))[1]!.payload['operation']).toEqual({
      type: 'switch',
      reason: 'manual',
    });
    await log.contexts.switch(threadId, 'default');
    expect(await activeLane(threadId)).toBe('default');
    expect(await contents(threadId)).toEqual(['here']);
  });
});

describe('op_id', () => {
  test('the same operation again is a duplicate for ever and applies nothing', async () => {
    const threadId = await newThread(log);
    const send = () => log.contexts.replace(threadId, { entries: [say('once')] }, { opId: 'o', expectedRev: 0 });
    expect(await send()).toMatchObject({ status: 'applied', seq: 0 });
    await append(threadId, 'later');
    await log.contexts.switch(threadId, 'plan');
    const before = await everythingOf(log.db, threadId);
    expect(await send()).toEqual({ opId: 'o', status: 'duplicate', opStatus: 'applied', seq: 0 });
    expect(await everythingOf(log.db, threadId)).toEqual(before);
  });

  test('another body, lane or kind under the same op_id is refused', async () => {
    const threadId = await newThread(log);
    await log.contexts.replace(threadId, { entries: [say('once')] }, { opId: 'o' });
    const before = await everythingOf(log.db, threadId);
    await refused(log.contexts.replace(threadId, { entries: [say('twice')] }, { opId: 'o' }), 'idempotency_mismatch');
    await refused(
      log.contexts.replace(threadId, { entries: [say('once')], systemPrompt: null }, { opId: 'o' }),
      'idempotency_mismatch',
    );
    await refused(
      log.contexts.replace(threadId, { entries: [say('once')] }, { opId: 'o', contextRef: 'plan' }),
      'idempotency_mismatch',
    );
    await refused(log.contexts.switch(threadId, 'default', { opId: 'o' }), 'idempotency_mismatch');
    expect(await everythingOf(log.db, threadId)).toEqual(before);
  });

  test('is a thread’s own', async () => {
    for (const threadId of [await newThread(log), await newThread(log)]) {
      expect(await log.contexts.switch(threadId, 'plan', { opId: 'o' })).toMatchObject({ status: 'applied' });
    }
  });

  test('without one every operation is a new one', async () => {
    const threadId = await newThread(log);
    const [a, b] = [await log.contexts.switch(threadId, 'plan'), await log.contexts.switch(threadId, 'plan')];
    expect(a.opId).not.toBe(b.opId);
    expect((await log.threads.get(threadId)).rev).toBe(2);
  });
});

describe('what is refused changes nothing', () => {
  const invalid: [string, JsonObject][] = [
    ['no type', {}],
    ['an unknown type', { type: 'delete' }],
    ['an unknown reason', { type: 'switch', reason: 'mood' }],
    ['meta that is no object', { type: 'switch', meta: [1] }],
    ['a replace without result_context', { type: 'replace' }],
    ['a result_context that is a list', { type: 'replace', result_context: [] }],
    ['a result_context without entries', { type: 'replace', result_context: { system_prompt: 'p' } }],
    ['entries that are no list', { type: 'replace', result_context: { entries: {} } }],
    ['a system_prompt that is a number', { type: 'replace', result_context: { entries: [], system_prompt: 1 } }],
  ];
  test.each(invalid)('%s', async (_, operation) => {
    const threadId = await newThread(log);
    await append(threadId, 'here');
    const before = await everythingOf(log.db, threadId);
    await refused(
      value(log.db, 'select lanefold.apply_operation($1, $2, $3, $4)', threadId, 'o', 'default', operation),
      'invalid_operation',
    );
    expect(await everythingOf(log.db, threadId)).toEqual(before);
  });

  test('another rev, bad ids, text that cannot be stored, a thread that is not there', async () => {
    const threadId = await newThread(log);
    await append(threadId, 'here');
    const before = await everythingOf(log.db, threadId);
    await refused(log.contexts.switch(threadId, 'plan', { expectedRev: 0 }), 'rev_conflict');
    await refused(log.contexts.switch(threadId, 'no spaces'), 'invalid_id');
    await refused(log.contexts.switch(threadId, 'plan', { opId: 'no spaces' }), 'invalid_id');
    await refused(
      value(log.db, 'select lanefold.apply_operation($1, $2, $3, $4)', threadId, 'o', 'no spaces', { type: 'switch' }),
      'invalid_id',
    );
    await refused(log.contexts.replace(threadId, { entries: [say('a\u0000')] }), 'invalid_text');
    await refused(log.contexts.replace(threadId, { entries: [], systemPrompt: '\ud800' }), 'invalid_text');
    await refused(log.contexts.switch(threadId, 'plan', { meta: { a: '\u0000' } }), 'invalid_text');
    expect(await everythingOf(log.db, threadId)).toEqual(before);
    await refused(log.contexts.switch('never-made', 'plan'), 'thread_not_found');
  });

  test('a refused operation does not use up its op_id', async () => {
    const threadId = await newThread(log);
    await refused(log.contexts.switch(threadId, 'plan', { opId: 'o', expectedRev: 9 }), 'rev_conflict');
    expect(await log.contexts.switch(threadId, 'research', { opId: 'o', expectedRev: 0 })).toMatchObject({
      status: 'applied',
    });
  });
});

test('every accepted operation stays on record', async () => {
  const threadId = await newThread(log);
  await log.contexts.replace(threadId, { entries: [] }, { opId: 'a', reason: 'system' });
  await log.contexts.switch(threadId, 'plan', { opId: 'b' });
  expect(
    await rows(
      log.db,
      'select op_id, context_ref, type, reason, status, operation, entry_seq from lanefold.context_op where thread_id = $1 order by op_id',
      threadId,
    ),
  ).toEqual([
    {
      op_id: 'a',
      context_ref: 'default',
      type: 'replace',
      reason: 'system',
      status: 'applied',
      operation: null,
      entry_seq: '0',
    },
    {
      op_id: 'b',
      context_ref: 'plan',
      type: 'switch',
      reason: 'manual',
      status: 'applied',
      operation: null,
      entry_seq: '1',
    },
  ]);
});
