import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readStream } from '../support/read-stream.ts';
import { startPair, type Pair } from '../support/two-processes.ts';
import { until } from '../support/until.ts';
import { urlAs } from '../support/citus.ts';

describe('a role that may do nothing but connect', () => {
  const role = `stranger_${randomBytes(4).toString('hex')}`;
  const heard: { channel: string; payload: string }[] = [];
  let pair: Pair;
  let stranger: pg.Client;
  const channelsHeard = () => [...new Set(heard.map(({ channel }) => channel))].sort();

  beforeAll(async () => {
    pair = await startPair();
    const { url, pool } = pair.front.database;
    await pool.query(`create role ${role} login password 'p'`);
    stranger = new pg.Client({ connectionString: urlAs(url, role, 'p') });
    await stranger.connect();
    stranger.on('notification', ({ channel, payload = '' }) => heard.push({ channel, payload }));
    // the channels that functions name, and those that only processes use
    const { rows } = await pool.query<{ channel: string }>(
      `select distinct m[1] as channel from pg_proc p, regexp_matches(p.prosrc, 'pg_notify\\(''(\\w+)''', 'g') m
       union select 'lanefold_readers' union select 'lanefold_cancel'`,
    );
    expect(rows.length).toBeGreaterThan(3);
    for (const { channel } of rows) await stranger.query(`listen ${channel}`);
  });
  afterAll(async () => {
    await stranger?.end();
    await pair?.front.database.pool.query(`drop role ${role}`);
    await pair?.close();
  });

  test('hears that something happens, and of no thread, run or tenant', async () => {
    const thread = { id: 'jane.doe@example.com', tenantId: 'hospital-17' };
    await pair.front.threads.create(thread);
    const run = await pair.front.runs.enqueue({
      agent: 'typist',
      input: 'hi',
      threadId: thread.id,
      requestId: 'visit-42',
    });
    const keys = await pair.model.next();
    const reader = readStream(pair.front.runs.stream(run));
    keys.type('It is ');
    await until('the answer is read live', () => reader.answer() === 'It is ');
    await pair.front.runs.cancel(run);
    expect(await pair.front.runs.wait(run)).toMatchObject({ status: 'cancelled' });
    await reader.ended;

    const expected = ['lanefold_cancel', 'lanefold_readers'];
    await until('the stranger has heard', () => expected.every((channel) => channelsHeard().includes(channel)));
    expect(channelsHeard()).toEqual(expect.arrayContaining(['bullmq_relay']));
    for (const { channel, payload } of heard)
      for (const secret of [thread.id, run.id, thread.tenantId, 'visit-42', 'jane', 'doe%40', 'hospital'])
        expect(payload, channel).not.toContain(secret);
  });
});
