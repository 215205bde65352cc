// @module-tag slow
import { afterAll, beforeAll, expect, test } from 'vitest';
import { callCli } from './call-cli.ts';
import { on, rowsOf, startWaiting, time, told, type Waiting } from './waiting.ts';

let given: Waiting;
beforeAll(async () => {
  given = await startWaiting();
});
afterAll(() => given?.lanefold.close());

test('waits are listed as a table and as JSON, and resolved with a result or an error', async () => {
  const { lanefold, run, start, results } = given;
  expect(await run('waits')).toMatchObject({ code: 0, stdout: '', stderr: told('no tool call waits') });
  const waiting = await start([on('paid'), on('shipped')]);
  const { threadId, id } = waiting;
  const listed = await run('waits');
  expect([listed.code, listed.stderr]).toEqual([0, '']);
  expect(rowsOf(listed.stdout)).toEqual([
    ['since', 'call', 'tool', 'waits for', 'until', 'thread', 'run'],
    expect.any(Array),
    [time, '1.0', 'await_event', 'paid', time, threadId, id],
    [time, '1.1', 'await_event', 'shipped', time, threadId, id],
  ]);
  const page = await run('waits', '--limit', '1');
  expect(page.stderr).toMatch(/^more: --after \S+$/m);
  const next = await run('waits', 'list', '--after', page.stderr.trim().split(' ').at(-1)!, '--json');
  expect(JSON.parse(next.stdout)).toEqual({
    data: [
      {
        thread_id: threadId,
        run_id: id,
        call: '1.1',
        round: 1,
        index: 1,
        name: 'await_event',
        kind: 'event',
        event: 'shipped',
        run: null,
        since: time,
        until: time,
      },
    ],
    next_after: null,
  });
  const resolve = (call: string, ...more: string[]) => run('waits', 'resolve', threadId, id, call, ...more);
  expect(await resolve('1.0', '--result', '{"paid": true}', '--by', 'ada')).toMatchObject({
    code: 0,
    stdout: 'resolved; the run is suspended\n',
  });
  expect((await resolve('1.0')).stdout).toBe('the wait had ended before: overridden\n');
  const last = await resolve('1.1', '--error', 'the order was cancelled', '--json');
  expect(JSON.parse(last.stdout)).toEqual({ resolved: true, wait: 'overridden', status: 'queued' });
  expect(await results(waiting)).toEqual(['{"paid":true}', told('the order was cancelled')]);
  const { rows } = await lanefold.database.pool.query('select ended_by from lanefold.run_wait order by call_index');
  expect(rows).toMatchObject([{ ended_by: 'ada' }, {}]);
});

test.each<[string[], number, string]>([
  [['waits', 'resolve', 't', 'r', 'first'], 2, 'usage'],
  [['waits', 'resolve', 't', 'r', '1.0', '--result', '1', '--error', 'x'], 2, 'invalid_input'],
  [['waits', 'resolve', 'nobody', 'r', '1.0'], 1, 'thread_not_found'],
  [['waits', 'list', '--event', 'two words'], 2, 'invalid_id'],
  [['waits', 'list', '--after', 'x'], 2, 'invalid_input'],
  [['events', 'send', 'two words'], 2, 'invalid_id'],
  [['events', 'send', 'e', '--keep', '2000d'], 2, 'invalid_input'],
  [['events', 'token', 'e', '--expires', 'soon'], 2, 'usage'],
  [['tree', 'nobody', 'r'], 1, 'run_not_found'],
])('%j exits with %i, %s, and a hint', async (args, exit, error) => {
  const { code, stdout, stderr } = await given.run(...args);
  expect([code, stdout]).toEqual([exit, '']);
  expect(stderr).toMatch(new RegExp(`^lanefold: .+ \\[${error}\\]\nhint: .+\n$`, 'm'));
});

test('without a secret, no token is signed', async () => {
  const { code, stderr } = await callCli(['events', 'token', 'e'], {
    env: { ...given.env, LANEFOLD_TOKEN_SECRET: '' },
  });
  expect([code, stderr]).toEqual([1, told('[missing_token_secret]')]);
  expect(stderr).toContain('hint: Set LANEFOLD_TOKEN_SECRET');
});
