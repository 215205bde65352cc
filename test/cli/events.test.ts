// @module-tag slow
import { afterAll, beforeAll, expect, test } from 'vitest';
import { until } from '../support/until.ts';
import { on, rowsOf, startWaiting, time, type Waiting } from './waiting.ts';

let given: Waiting;
beforeAll(async () => {
  given = await startWaiting();
});
afterAll(() => given?.lanefold.close());

test('events are sent, kept, and signed for others', async () => {
  const { lanefold, run, start, results } = given;
  const first = await start([on('order:1:paid')]);
  expect(await run('events', 'send', 'order:1:paid', '{"amount": 30}', '--by', 'ada')).toMatchObject({
    code: 0,
    stdout: 'resolved 1 call\n',
  });
  expect(await results(first)).toEqual(['{"amount":30}']);
  const kept = await run('events', 'send', 'order:2:paid', 'thank you', '--keep', '1h', '--json');
  expect(JSON.parse(kept.stdout)).toEqual({ event: 'order:2:paid', resolved: [], kept: true });
  expect(await results(await given.enqueue([on('order:2:paid')]))).toEqual(['thank you']);

  const acme = await start([on('order:3:paid')], lanefold.forTenant('acme'));
  expect((await run('events', 'send', 'order:3:paid')).stdout).toBe('resolved 0 calls\n');
  const signed = await run('events', 'token', 'order:3:paid', '--expires', '7d', '--tenant', 'acme', '--json');
  const { token, path } = JSON.parse(signed.stdout) as { token: string; path: string };
  expect(path).toBe(`/signed/events/${token}`);
  expect((await lanefold.events.sendSigned(token, 'signed')).resolved).toMatchObject([{ runId: acme.id }]);
  expect(await results(acme)).toEqual(['signed']);
  expect((await run('events', 'token', 'order:3:paid')).stdout).toMatch(/^\/signed\/events\/ev1\.\S+\n$/);
});

test('a tree shows its runs with what they wait for, from any of them', async () => {
  const { lanefold, run, start, results } = given;
  const root = await start([{ tool: 'ask_clerk', args: { task: 'Have it signed.' } }]);
  const child = await until('the clerk waits', async () =>
    (await lanefold.runs.tree(root)).runs.find(({ agent, waits }) => agent === 'clerk' && waits.length > 0),
  );
  const shown = await run('tree', child.threadId, child.id);
  expect([shown.code, shown.stderr]).toEqual([0, '']);
  expect(shown.stdout.split('\n')).toEqual([
    `lead suspended (ask_clerk waits for run)  ${root.threadId} ${root.id}`,
    `  clerk suspended (await_event waits for signed)  ${child.threadId} ${child.id}`,
    expect.stringMatching(/^in all: \d+ tokens$/),
    '',
  ]);
  const tree = await run('tree', root.threadId, root.id, '--json');
  expect(JSON.parse(tree.stdout)).toMatchObject({
    root: { id: root.id },
    runs: [
      { id: root.id, agent: 'lead', depth: 0, parent: null, context_ref: 'default' },
      {
        id: child.id,
        agent: 'clerk',
        depth: 1,
        parent: { id: root.id, round: 1, index: 0, call: '1.0' },
        created_at: time,
      },
    ],
    cost: null,
    unpriced_tokens: expect.any(Number) as number,
  });
  expect(rowsOf((await run('waits', '--event', 'signed')).stdout)).toHaveLength(3);
  await run('events', 'send', 'signed');
  expect(await results(root)).toEqual(['done']);
  const followed = await run('tree', root.threadId, root.id, '--follow');
  expect([followed.code, followed.stderr]).toEqual([0, '']);
  const lines = followed.stdout.trimEnd().split('\n');
  expect(new Set(lines.map((line) => line.split(' | ')[0]))).toEqual(new Set(['lead', 'clerk']));
  expect(lines.some((line) => line.startsWith('clerk | ← await_event ok'))).toBe(true);
  const items = (await run('tree', root.threadId, root.id, '--follow', '--json')).stdout.trimEnd().split('\n');
  expect(new Set(items.map((item) => (JSON.parse(item) as { run_id: string }).run_id))).toEqual(
    new Set([root.id, child.id]),
  );
});
