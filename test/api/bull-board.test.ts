import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fakeModel } from '../support/fake-model.ts';
import { noRedis } from '../support/lanefold.ts';
import { deferred, until } from '../support/until.ts';
import { startApi, type Api } from './helpers.ts';

const script = [{ tools: [{ tool: 'add', args: { a: 1, b: 2 } }] }, 'It is 3.'];

interface Shown {
  job: {
    name: string;
    progress: object;
    returnValue: object | null;
    data: object;
    externalUrl: object;
    failedReason?: string;
    stacktrace: string[];
  };
  status: string;
}

describe.skipIf(noRedis())('Bull Board', () => {
  let api: Api;
  let jobs: string;
  let asked = 0;
  const gate = deferred<void>();
  beforeAll(async () => {
    const broken = fakeModel(() => new Error('out of credit'));
    const gated = fakeModel(async (_, n) => {
      asked = n + 1;
      if (n === 0) return { calls: [{ id: 'c', name: 'add', args: { a: 1, b: 2 } }] };
      await gate.promise;
      return { text: 'It is 3.' };
    });
    api = await startApi({ models: { broken: () => broken, gated: () => gated } });
    jobs = `/admin/queues/api/queues/${api.lanefold.queues[0]!.name}`;
  });
  afterAll(() => api?.close());

  // Job and status are read one after the other, so the job may still be the active one.
  const ended = (jobId: string, status: 'completed' | 'failed') =>
    until(`job ${jobId} is ${status}`, async () => {
      const shown = (await api.call('GET', `${jobs}/${jobId}`)).body as Shown;
      const outcome = status === 'completed' ? shown.job.returnValue : shown.job.failedReason;
      return shown.status === status && outcome ? shown : undefined;
    });

  test('serves a page that loads nothing from other hosts', async () => {
    const page = await api.call('GET', '/admin/queues');
    expect(page.status).toBe(200);
    expect(page.text).toContain('<title>Lanefold</title>');
    expect(page.text).not.toMatch(/(src|href)="https?:/);
    expect(page.headers.get('content-security-policy')).toMatch(/^default-src 'self';/);
    const links = [...page.text.matchAll(/(?:src|href)="(static\/[^"]+)"/g)].map((match) => match[1]!);
    expect(links.length).toBeGreaterThan(3);
    for (const link of links) expect((await api.call('GET', `/admin/queues/${link}`)).status).toBe(200);
    expect((await api.call('GET', '/admin/queues/api/queues')).body).toMatchObject({
      queues: [{ displayName: 'Runs' }],
    });
  });

  const linesOf = async (jobId: string) =>
    ((await api.call('GET', `${jobs}/${jobId}/logs`)).body as string[]).map((line) =>
      line.replace(/^\+\d+\.\d\d s {2}/, ''),
    );

  test('shows the progress, log lines and result of a run, and links to it', async () => {
    const model = `scripted:${JSON.stringify(script)}`;
    const { id, threadId } = await api.lanefold.runs.enqueue({ agent: 'calc', input: '1+2?', model });
    const { job } = await ended(`${id}.1`, 'completed');
    expect(job).toMatchObject({
      name: 'calc',
      data: { thread_id: threadId, run_id: id, enqueue_no: 1 },
      progress: { iteration: 2, tokens: expect.any(Number), status: 'completed' },
      returnValue: { status: 'completed', answer: 'It is 3.', iterations: 2, tokens: expect.any(Number) },
      externalUrl: { href: `/#/threads/${threadId}/runs/${id}` },
    });
    expect(await linesOf(`${id}.1`)).toEqual([
      '[1] started',
      expect.stringMatching(/^\[1\] model asks for tools \(\d+ \+ \d+ tokens\)$/),
      expect.stringMatching(/^\[1\] add: ok in \d+ ms$/),
      expect.stringMatching(/^\[2\] model answers \(\d+ \+ \d+ tokens\)$/),
      expect.stringMatching(/^\[2\] completed, \d+ tokens$/),
    ]);
  });

  test('shows how far a run is while it is executed, of which the queue is told nothing', async () => {
    const { id } = await api.lanefold.runs.enqueue({ agent: 'calc', input: '1+2?', model: 'gated:model' });
    await until('the model is asked for the second time', () => asked === 2);
    const { job } = (await api.call('GET', `${jobs}/${id}.1`)).body as Shown;
    expect(job.progress).toMatchObject({ iteration: 2, tokens: expect.any(Number), status: 'running' });
    expect((await linesOf(`${id}.1`)).at(-1)).toMatch(/^\[1\] add: ok/);
    const stored = await api.lanefold.queues[0]!.getJob(`${id}.1`);
    expect(stored!.progress).toBe(0);
    gate.resolve();
    await ended(`${id}.1`, 'completed');
    expect((await api.lanefold.queues[0]!.getJobLogs(`${id}.1`)).count).toBe(0);
  });

  test('still shows the job of a run whose thread was erased', async () => {
    const run = await api.lanefold.runs.enqueue({ agent: 'calc', input: 'x' });
    await ended(`${run.id}.1`, 'completed');
    const job = (await api.lanefold.queues[0]!.getJob(`${run.id}.1`))!;
    // in SQL, which leaves the job
    await api.lanefold.database.pool.query('select lanefold.erase_conversation($1)', [run.threadId]);
    expect((await api.call('GET', `${jobs}/${job.id}`)).body).toMatchObject({
      job: { returnValue: { iterations: 1 } },
    });
    expect(await linesOf(job.id!)).toEqual([]);
  });

  test('shows a failed run as a failed job with its error and log; its job cannot be retried', async () => {
    const run = await api.lanefold.runs.enqueue({ agent: 'calc', input: 'x', model: 'broken:model' });
    const { job } = await ended(`${run.id}.1`, 'failed');
    expect(job).toMatchObject({ failedReason: expect.stringMatching(/^\w+: .*out of credit/), stacktrace: [] });
    expect((await api.call('GET', `${jobs}/${run.id}.1/logs`)).text).toContain('failed: llm_request');

    for (const path of [`${jobs}/${run.id}.1/retry`, `${jobs}/retry/failed`, `${jobs}/retry/completed`])
      expect([path, (await api.call('PUT', path, {})).status]).toEqual([path, 403]);
    expect((await api.call('GET', `${jobs}/${run.id}.1`)).body).toMatchObject({ status: 'failed' });
    const board = (await api.call('GET', '/admin/queues/api/queues')).body as { queues: object[] };
    expect(board.queues[0]).toMatchObject({ allowRetries: false });
  });

  test('rejects jobs that belong to no run', async () => {
    const answer = await api.call('POST', `${jobs}/add`, { name: 'x', data: {}, options: {} });
    expect(answer.status).toBe(403);
    expect((await api.call('PUT', `${jobs}/obliterate`, {})).status).toBe(403);
  });
});
