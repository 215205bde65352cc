// @module-tag slow
import { defineAgent } from 'lanefold';
import { createClient } from 'lanefold/client';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bearer, mintKey, problem, startApi, type Api } from '../api/helpers.ts';
import { callCli } from '../cli/call-cli.ts';
import { until } from '../support/until.ts';
import { startReceiver, type Receiver } from '../webhooks/receiver.ts';

describe('alarms and acts on many runs, from outside', () => {
  let api: Api;
  let receiver: Receiver;
  const root = bearer('root');
  beforeAll(async () => {
    api = await startApi({
      agents: ['echo', 'idle'].map((name) => defineAgent({ name, model: 'scripted:echo' })),
      server: { apiKey: 'root' },
      privateWebhooks: true,
    });
    receiver = await startReceiver();
  });
  afterAll(async () => {
    await api?.close();
    await receiver?.close();
  });
  const call = (method: string, path: string, body?: unknown, auth = root) =>
    api.call(method, `/v1${path}`, body, auth);
  const run = (...args: string[]) => callCli(args, { env: { DATABASE_URL: api.lanefold.databaseUrl } });
  const later = () => api.lanefold.runs.enqueue({ agent: 'idle', input: 'later', delayMs: 3_600_000 });

  test('an alarm is set, shown, paused and removed over HTTP', async () => {
    const definition = { filter: { status: 'failed', agent: 'echo' }, more_than: 10, share: 0.2, within_ms: 60_000 };
    const set = await call('PUT', '/alarms/failures', definition);
    expect(set).toMatchObject({ status: 200, body: { name: 'failures', ...definition, raised_at: null } });
    expect((await call('PUT', '/alarms/failures', definition)).body).toMatchObject({
      updated_at: (set.body as { updated_at: string }).updated_at,
    });
    expect((await call('POST', '/alarms/failures/pause')).body).toMatchObject({
      paused_at: expect.any(String) as string,
    });
    expect((await call('GET', '/alarms')).body).toMatchObject({
      data: [{ name: 'failures', filter: definition.filter }],
    });
    expect((await call('GET', '/alarms/failures/counts')).status).toBe(200);
    const { auth } = await mintKey(api.call, root, { scopes: ['admin', 'read'], tenant: 'acme' });
    expect((await call('GET', '/alarms', undefined, auth)).body).toEqual({ data: [] });
    expect(await call('DELETE', '/alarms/failures', undefined, auth)).toMatchObject(problem(404, 'alarm_not_found'));
    expect((await call('DELETE', '/alarms/failures')).status).toBe(204);
    expect((await call('PUT', '/alarms/bad', { filter: { created_after: '2026-01-01T00:00:00Z' } })).status).toBe(400);
  });

  test('an alarm is managed on the command line', async () => {
    const set = await run('alarms', 'set', 'many', '--status', 'failed', '--more-than', '3', '--within', '10m');
    expect(set.stdout).toBe('many is set: more than 3 within 10 min\n');
    expect((await run('alarms')).stdout).toMatch(/^many +default +status=failed +more than 3 within 10 min/m);
    expect((await run('alarms', 'remove', 'many')).stdout).toBe('many is removed\n');
  });

  test('a webhook with a template sends its body, signed', async () => {
    const { secret } = await api.lanefold.webhooks.set('slack', {
      url: `${receiver.url}/slack`,
      types: ['run.completed'],
      template: { text: '{{data.agent}} is {{data.status}}', blocks: [{ id: '{{id}}' }] },
    });
    await api.lanefold.runs.wait(await api.lanefold.runs.enqueue({ agent: 'echo', input: 'hi' }));
    await until('it came', () => receiver.at('/slack').length > 0);
    const [received] = receiver.at('/slack');
    const headers = received!.headers as Record<string, string>;
    expect(new Webhook(secret!).verify(received!.body, headers)).toEqual({
      text: 'echo is completed',
      blocks: [{ id: headers['webhook-id'] }],
    });
    const [delivery] = await api.lanefold.webhooks.deliveries('slack');
    expect(delivery!.payload).toMatchObject({ type: 'run.completed', data: { agent: 'echo' } });
    const { auth } = await mintKey(api.call, root, { scopes: ['read'] });
    expect((await call('GET', '/webhooks/slack', undefined, auth)).body).toMatchObject({ template: null });
    expect((await call('GET', '/webhooks/slack')).body).toMatchObject({
      template: { text: expect.any(String) as string },
    });
    const bad = { url: receiver.url, template: { text: '{{secret}}' } };
    expect((await call('PUT', '/webhooks/bad', bad)).status).toBe(400);
  });

  test('runs are cancelled together, each with a row in the audit, by keys that may cancel one', async () => {
    const runs = [await later(), await later(), await later()];
    const { auth, id } = await mintKey(api.call, root, { scopes: ['steer'] });
    const preview = await call('POST', '/runs/cancel-many', { filter: { agent: 'idle' }, dry_run: true }, auth);
    expect(preview.body).toMatchObject({ matched: 3, left: 3 });
    const { created_before } = preview.body as { created_before: string };
    const act = { filter: { agent: 'idle', created_before }, reason: 'outage' };
    const done = await call('POST', '/runs/cancel-many', act, auth);
    expect((done.body as { runs: { outcome: string }[] }).runs.map(({ outcome }) => outcome)).toEqual(
      Array(3).fill('done'),
    );
    const { data } = (await call('GET', '/audit?limit=1000')).body as { data: Record<string, string>[] };
    const rows = data.filter(({ action }) => action === 'cancelRuns');
    expect(rows.map(({ actor }) => actor)).toEqual(Array(3).fill(`key:${id}`));
    expect(new Set(rows.map(({ run_id: of }) => of))).toEqual(new Set(runs.map((one) => one.id)));
    await call('POST', '/runs/cancel-many', act, auth);
    const { data: again } = (await call('GET', '/audit?limit=1000')).body as { data: Record<string, string>[] };
    expect(again.filter(({ action }) => action === 'cancelRuns')).toHaveLength(3);
    expect(await call('POST', '/runs/retry-many', { filter: {}, dry_run: true }, auth)).toMatchObject(
      problem(403, 'forbidden'),
    );
    const approving = { filter: {}, dry_run: true, decision: 'approve' };
    expect(await call('POST', '/runs/release-many', approving, auth)).toMatchObject(problem(403, 'forbidden'));
    const bound = await mintKey(api.call, root, { scopes: ['steer'], agents: ['idle'] });
    expect(await call('POST', '/runs/cancel-many', act, bound.auth)).toMatchObject(problem(403, 'forbidden'));
  });

  test('runs are cancelled together by the client', async () => {
    await later();
    const { runs } = createClient({ url: api.url, apiKey: 'root' });
    const { createdBefore, matched } = await runs.cancelMany({ agent: 'idle', status: 'queued' }, { dryRun: true });
    expect(matched).toBe(1);
    const done = await runs.cancelMany({ agent: 'idle', createdBefore });
    expect(done.runs).toMatchObject([{ outcome: 'done', agent: 'idle' }]);
  });

  test('runs are cancelled together on the command line, after a preview', async () => {
    const { threadId, id } = await later();
    const filter = ['--agent', 'idle', '--status', 'queued'];
    const preview = await run('runs', 'cancel', ...filter);
    expect(preview.stderr).toMatch(/1 run to cancel; to cancel them, add --created-before \S+Z --yes/);
    expect((await api.lanefold.runs.get({ threadId, id })).status).toBe('queued');
    const done = await run('runs', 'cancel', ...filter, '--yes');
    expect(done.stdout).toContain('1 run cancelled, 0 unchanged, 0 refused');
    expect((await api.lanefold.runs.get({ threadId, id })).status).toBe('cancelled');
  });
});
