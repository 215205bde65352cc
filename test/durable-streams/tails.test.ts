import { expect, test } from 'vitest';
import { Tails } from '../../src/doors/durable-streams/stored.ts';
import { appendStream, createStream } from '../../src/database/store/stream/streams.ts';
import { useLog } from '../db/helpers.ts';

const log = useLog();

test('a reader that comes after an append of another process wakes those that wait since before it', async () => {
  const ref = { threadId: undefined, name: 's' };
  const asked = { ttl_s: null, ends_at: null, from: null, offset: null, sub_offset: 0 };
  const text = { content_type: 'text/plain', media_type: 'text/plain', closed: false, asked };
  const created = await createStream(log.db, ref, text, [Buffer.from('first')]);
  if (created.status !== 'created') throw new Error(created.status);
  const append = { media_type: 'text/plain', seq: undefined, producer: undefined, close: false };
  const left = new AbortController();
  const [here, there] = [new Tails(log.db), new Tails(log.db)];

  const elsewhere = there.wait(created.id, created.tail, left.signal);
  const appended = await appendStream(log.db, ref, append, [Buffer.from('more')]);
  if (appended.status !== 'appended') throw new Error(appended.status);
  // one has read before the append, the other one after it, and both wait before this process looks
  const before = here.wait(created.id, created.tail, left.signal);
  const after = here.wait(created.id, appended.tail, left.signal);
  await Promise.all([elsewhere, before]);
  let woken = false;
  void after.then(() => (woken = true));
  await Promise.resolve();
  expect(woken).toBe(false);
  await appendStream(log.db, ref, append, [Buffer.from('last')]);
  await after;
});
