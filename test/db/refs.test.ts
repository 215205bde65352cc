import { beforeEach, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/agent/context/message.ts';
import { everythingOf, newThread, refused, rows, useLog, value } from './helpers.ts';
import { input, sqlRun } from './sql-run.ts';

const log = useLog();
const sized = (bytes: number): JsonObject => ({ mine: 'x'.repeat(bytes) });
const tooLarge = sized(65_537);
const ask = (refs: unknown): JsonObject => ({
  run_id: 'r',
  request_id: 'r',
  request_hash: 'aa',
  agent: 'a',
  strategy: 'react',
  model: 'm',
  input: { content: 'go', refs } as JsonObject,
});

describe('refs are an object of up to 64 KiB, or nothing is written', () => {
  let threadId: string;
  beforeEach(async () => void (threadId = await newThread(log)));

  const message = (refs: unknown) => [{ kind: 'ai_message', payload: { role: 'user', content: 'x' }, refs }];
  const note = (refs: unknown) => [{ kind: 'note', payload: {}, refs }];
  const replace = (refs: unknown) => ({
    type: 'replace',
    result_context: { entries: [{ role: 'user', content: 'x', refs }] },
  });
  const json = (refs: unknown): string => JSON.stringify(refs);
  const writes: [string, (refs: unknown) => Promise<unknown>][] = [
    ['a message', (r) => value(log.db, 'select lanefold.append_entries($1, $2)', threadId, json(message(r)))],
    ['an entry', (r) => value(log.db, 'select lanefold.append_entries($1, $2)', threadId, json(note(r)))],
    ['an anchor', (r) => value(log.db, "select lanefold.apply_operation($1, 'o', null, $2)", threadId, replace(r))],
    ['a request', (r) => value(log.db, 'select lanefold.enqueue_run($1, $2)', threadId, ask(r))],
  ];

  test.each(writes)('in %s', async (_, write) => {
    const before = await everythingOf(log.db, threadId);
    await refused(write(tooLarge), 'invalid_input');
    await refused(write([1]), 'invalid_input');
    expect(await everythingOf(log.db, threadId)).toEqual(before);
    await write(sized(65_000));
    expect(await everythingOf(log.db, threadId)).not.toEqual(before);
  });

  test('in queued input', async () => {
    await sqlRun(log.db, threadId, 'r').enqueue();
    const before = await everythingOf(log.db, threadId);
    await refused(input(log.db, threadId, 'i', 'more', { refs: tooLarge }), 'invalid_input');
    expect(await everythingOf(log.db, threadId)).toEqual(before);
    expect(await input(log.db, threadId, 'i', 'more', { refs: sized(65_000) })).toMatchObject({ status: 'queued' });
  });

  test('metadata of a thread, too', async () => {
    await refused(log.threads.create({ id: 'too-large', metadata: tooLarge }), 'invalid_input');
    await refused(log.threads.get('too-large'), 'thread_not_found');
  });

  test('a number that is short as stored counts as the text it becomes', async () => {
    const text = `{"content": "go", "refs": {"mine": [${Array.from({ length: 10 }, () => '1e9999').join()}]}}`;
    const enqueue = value(
      log.db,
      `select lanefold.enqueue_run($1, $2::jsonb || jsonb_build_object('input', $3::jsonb))`,
      ...[threadId, ask({}), text],
    );
    await refused(enqueue, 'invalid_input');
  });
});

test('refs count towards the size of a context and of queued input', async () => {
  const threadId = await newThread(log);
  const run = sqlRun(log.db, threadId, 'r');
  await run.enqueue();
  const steer = (id: string, more: JsonObject) => input(log.db, threadId, id, 'x', { refs: sized(60_000), ...more });
  for (let i = 0; i < 3; i++) expect(await steer(`i${i}`, {})).toMatchObject({ status: 'queued' });
  await refused(steer('last', { max_context_bytes: 200_000 }), 'context_too_large');
  // of refs, a worker gets what a context policy asks of a message
  expect(JSON.stringify(await run.claim())).not.toContain('xxx');
  expect(JSON.stringify(await run.claim({ leaseMs: -1 }))).not.toContain('xxx');
  const [row] = await rows<{ bytes: number }>(
    log.db,
    'select sum(bytes)::int as bytes from lanefold._entry where thread_id = $1',
    threadId,
  );
  expect(row!.bytes).toBeGreaterThan(180_000);
});
