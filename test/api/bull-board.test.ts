import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fakeModel } from '../support/fake-model.ts';
import { noRedis } from '../support/lanefold.ts';
import { until } from '../support/until.ts';
import { startApi, type Api } from './helpers.ts';

// Longer than a run must last before Bull Board shows it.
const script = [{ tools: [{ tool: 'add', args: { a: 1, b: 2 } }] }, 'It is 3.'];
const slow = `scripted:${JSON.stringify(script)}?latency_ms=300`;

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
  beforeAll(async () => {
    const broken = fakeModel(() => new Error('out of credit'));
    api = await startApi({ models: { broken: () => broken } });
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

  test('shows the progress, ordered log lines and result of a run', async () => {
    const { id, threadId } = await api.lanefold.runs.enqueue({ agent: 'calc', input: '1+2?', model: slow });
    const { job } = await ended(`${id}.1`, 'completed');
    expect(job).toMatchObject({
      name: 'calc',
      data: { thread_id: threadId, run_id: id, enqueue_no: 1 },
      progress: { iteration: 2, max_iterations: 5, tokens: expect.any(Number), phase: 'completed' },
      returnValue: { status: 'completed', answer: 'It is 3.', iterations: 2, tokens: expect.any(Number) },
    });
    const logged = (await api.call('GET', `${jobs}/${id}.1/logs`)).body as string[];
    const lines = logged.flatMap((gathered) => gathered.split('\n'));
    expect(lines.map((line) => line.replace(/^\+\d+\.\d\d s {2}/, ''))).toEqual([
      expect.stringMatching(/^calc starts, model scripted:\[…\], lane default$/),
      expect.stringMatching(/^\[1\/5\] model asks for add \(\d+ \+ \d+ tokens\)$/),
      expect.stringMatching(/^\[1\/5\] add: ok in \d+ ms$/),
      expect.stringMatching(/^\[2\/5\] model answers \(\d+ \+ \d+ tokens\)$/),
      expect.stringMatching(/^completed after 2 of 5 iterations, \d+ tokens$/),
    ]);
  });

  test('shows the log lines and progress of a short run too, and links to the run', async () => {
    const { id, threadId } = await api.lanefold.runs.enqueue({ agent: 'calc', input: 'short' });
    const { job } = await ended(`${id}.1`, 'completed');
    expect(job).toMatchObject({
      progress: { iteration: 1, max_iterations: 5, phase: 'completed' },
      externalUrl: { href: `/#/threads/${threadId}/runs/${id}` },
    });
    expect(job.returnValue).not.toHaveProperty('shown');
    const logged = ((await api.call('GET', `${jobs}/${id}.1/logs`)).body as string[]).flatMap((text) =>
      text.split('\n'),
    );
    expect(logged.at(0)).toContain('calc starts');
    expect(logged.at(-1)).toContain('completed after 1 of 5 iterations');
  });

  test('shows a failed run as a failed job with its error and log; its job cannot be retried', async () => {
    const run = await api.lanefold.runs.enqueue({ agent: 'calc', input: 'x', model: 'broken:model' });
    const { job } = await ended(`${run.id}.1`, 'failed');
    expect(job).toMatchObject({ failedReason: expect.stringMatching(/^\w+: .*out of credit/), stacktrace: [] });
    expect((await api.call('GET', `${jobs}/${run.id}.1/logs`)).text).toContain('llm_request');

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
