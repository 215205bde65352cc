// @module-tag long
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { deferred, until } from '../support/until.ts';
import { errorOf, newClient, oldClient, runOf, startRig, textOf, type Rig } from './rig.ts';

describe('calls that last longer than their client waits', () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig({ waitMs: 60_000 });
    await rig.work();
  });
  afterAll(() => rig?.close());

  const finish = async (text: string) => {
    const keys = await rig.model.next();
    return () => {
      keys.type(text);
      keys.stop();
    };
  };

  type Call = { name: string; arguments: Record<string, unknown> };
  type Options = { timeout?: number; signal?: AbortSignal; onprogress?: (progress: { message?: string }) => void };
  const clients: [string, () => Promise<(call: Call, options?: Options) => Promise<object>>][] = [
    [
      '2026-07-28',
      async () => {
        const client = await newClient(rig.url);
        return (call, options) => client.callTool(call, options);
      },
    ],
    [
      'the first SDK',
      async () => {
        const client = await oldClient(rig.url);
        return (call, options) => client.callTool(call, undefined, options as never);
      },
    ],
  ];

  describe.each(clients)('%s', (era, connect) => {
    test('a client whose time is up finds its run by the same request_id', async () => {
      const callTool = await connect();
      const call = { name: 'typist', arguments: { message: 'think', request_id: `slow-${era.at(-1)}` } };
      await expect(callTool(call, { timeout: 500 })).rejects.toThrow(/timed out/i);
      const again = callTool(call);
      (await finish('At last.'))();
      const { thread_id, run_id, ...answer } = runOf(await again);
      expect(answer).toMatchObject({ status: 'completed', output: 'At last.' });
      expect((await rig.front.runs.list({ threadId: thread_id })).data).toHaveLength(1);
      const result = await callTool({ name: 'lanefold_run_result', arguments: { thread_id, run_id } });
      expect(runOf(result)).toMatchObject({ status: 'completed', output: 'At last.' });
    });

    test('a client that leaves has heard of its run, and asks for it later', async () => {
      const callTool = await connect();
      const left = new AbortController();
      const said: string[] = [];
      const heard = (message = '') => {
        said.push(message);
        left.abort();
      };
      const call = { name: 'typist', arguments: { message: 'think' } };
      await expect(
        callTool(call, { signal: left.signal, onprogress: ({ message }) => heard(message) }),
      ).rejects.toThrow();
      const [, run_id, thread_id] = /^run (\S+) of thread (\S+): \w+$/.exec(said[0]!)!;
      const end = await finish('Still here.');
      const status = await callTool({ name: 'lanefold_run_status', arguments: { thread_id, run_id } });
      expect(JSON.parse(textOf(status))).toMatchObject({ status: 'running', agent: 'typist', open_calls: [] });
      const early = await callTool({ name: 'lanefold_run_result', arguments: { thread_id, run_id, wait_ms: 0 } });
      expect(early).not.toHaveProperty('isError', true);
      expect(runOf(early)).toEqual({ thread_id, run_id, status: 'running' });
      expect(textOf(early)).toContain(`lanefold_run_result with thread_id "${thread_id}" and run_id "${run_id}"`);
      const late = callTool({ name: 'lanefold_run_result', arguments: { thread_id, run_id } });
      end();
      expect(runOf(await late)).toMatchObject({ run_id, status: 'completed', output: 'Still here.' });
      expect((await rig.front.runs.list({ threadId: thread_id! })).data).toHaveLength(1);
    });
  });

  test('a run that is steered or cancelled meanwhile', async () => {
    const client = await newClient(rig.url);
    const start = async () =>
      JSON.parse(
        textOf(await client.callTool({ name: 'lanefold_start_run', arguments: { agent: 'typist', message: 'go' } })),
      ) as { thread_id: string; run_id: string };
    const run = await start();
    const end = await finish('First.');
    const steer = { name: 'lanefold_steer', arguments: { ...run, message: 'be brief', request_id: 's1' } };
    expect(JSON.parse(textOf(await client.callTool(steer)))).toMatchObject({ status: 'queued', duplicate: false });
    expect(JSON.parse(textOf(await client.callTool(steer)))).toMatchObject({ duplicate: true });
    end();
    const next = await rig.model.next();
    expect(JSON.stringify(next.call.prompt)).toContain('be brief');
    next.type('Second.');
    next.stop();
    const answer = await client.callTool({ name: 'lanefold_run_result', arguments: run });
    expect(runOf(answer)).toMatchObject({ output: 'Second.' });
    const late = { ...steer, arguments: { ...run, message: 'more' } };
    expect(errorOf(await client.callTool(late)).code).toBe('no_active_run');

    const doomed = await start();
    await rig.model.next();
    const cancelled = await client.callTool({ name: 'lanefold_cancel', arguments: { ...doomed, reason: 'enough' } });
    expect(JSON.parse(textOf(cancelled))).toMatchObject({ accepted: true });
    const ended = await client.callTool({ name: 'lanefold_run_result', arguments: doomed });
    expect(errorOf(ended)).toMatchObject({ code: 'run_cancelled', ...doomed });
  });
});

describe('a later wait for a run that has done much already', () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig({ waitMs: 60_000 }, { apiKey: 'operator' });
    await rig.work();
  });
  afterAll(() => rig?.close());

  /** A run that is answered again, after two calls that a person has approved. */
  const busyRun = async () => {
    const { threadId, id } = await rig.front.runs.enqueue({ agent: 'typist', input: 'dig twice' });
    for (const [i, at] of ['home', 'sea'].entries()) {
      (await rig.model.next()).stop({ id: `d${i}`, name: 'dig', args: { at } });
      await until('it waits', async () => (await rig.front.runs.get({ threadId, id })).approvals.length === 1);
      await rig.front.runs.approve({ threadId, id }, `${i + 1}.0`);
    }
    return { run: { thread_id: threadId, run_id: id }, ref: { threadId, id }, keys: await rig.model.next() };
  };

  test('hears only what is new, and makes no more requests for what is old', async () => {
    const { run, ref, keys } = await busyRun();
    const old = new Set((await rig.front.runs.events(ref)).map(({ kind }) => kind));
    expect(old).toContain('approval_decided');
    // it reads the thread and the run, follows the run, and reads it again
    const { key } = await rig.front.keys.create({ name: 'k', scopes: ['read'], limits: { requestsPerMinute: 4 } });
    const client = await newClient(rig.url, { key });
    const said: string[] = [];
    const begun = deferred();
    const heard = (message = '') => {
      said.push(message.split(': ').at(-1)!);
      begun.resolve();
    };
    const call = { name: 'lanefold_run_result', arguments: run };
    const answer = client.callTool(call, { onprogress: ({ message }) => heard(message) });
    await begun.promise;
    keys.type('Dug.');
    keys.stop();
    expect(runOf(await answer)).toMatchObject({ status: 'completed', output: 'Dug.' });
    expect(said[0]).toBe('running');
    for (const kind of ['run_started', 'approval_requested', 'approval_decided']) expect(said).not.toContain(kind);
  });
});

test('an agent that no worker knows: the call says so, and the run waits for one', async () => {
  const rig = await startRig({ waitMs: 60_000 }, {}, { unattendedMs: 100 });
  try {
    const client = await newClient(rig.url);
    const result = await client.callTool({ name: 'echo', arguments: { message: 'anybody?' } });
    expect(result.isError).toBeFalsy();
    expect(runOf(result)).toMatchObject({ status: 'queued' });
    expect(textOf(result)).toContain('no worker can take it');
    await rig.work();
    const { thread_id, run_id } = runOf(result);
    const later = await client.callTool({ name: 'lanefold_run_result', arguments: { thread_id, run_id } });
    expect(runOf(later)).toMatchObject({ status: 'completed' });
  } finally {
    await rig.close();
  }
});
