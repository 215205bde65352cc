// @module-tag slow
import { defineAgent, defineTool, waitFor, type RunHandle } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { overridableFields } from '../../src/agent/definition/overridable.ts';
import { fakeModel } from '../support/fake-model.ts';

import { onCitus } from '../support/services.ts';
import { until } from '../support/until.ts';
import { operationsOf, type OpenApi } from './document.ts';
import { bearer, mintKey, startApi, type Answer, type Api } from './helpers.ts';

const tools = [
  defineTool({ name: 'pay', input: z.object({}), needsApproval: true, execute: () => 'paid' }),
  defineTool({ name: 'listen', input: z.object({}), execute: () => waitFor('bell') }),
];
const overridable = { http: overridableFields };
const agents = [
  defineAgent({ name: 'echo', model: 'scripted:echo', overridable }),
  defineAgent({ name: 'payer', model: 'scripted:[{"tool":"pay"},"done"]', tools, version: 'a', overridable }),
  defineAgent({ name: 'listener', model: 'scripted:[{"tool":"listen"},"done"]', tools, overridable }),
  defineAgent({ name: 'hanging', model: 'fake:hanging', overridable }),
];

type Act = () => Promise<Answer>;
/** A request that is carried out, and one that is refused once its credential and its form were accepted. */
type Acts = [done: Act, refused: Act];

/** Operations that leave no row, because what they write says who wrote it, or is a conversation and no decision on it. */
const unaudited = new Set([
  'createThread',
  'work',
  'appendEntries',
  'giveFeedback',
  'createRun',
  'createRuns',
  'retryRun',
  'resumeRun',
  'collectRun',
  'runAgUi',
  'steerRun',
  'injectRun',
  'sendEvent',
  'createCheckpoint',
  'createBrowserToken',
  'createStream',
  'appendStream',
  'createThreadStream',
  'appendThreadStream',
]);

// in this order: what one sets, another removes
describe('the audit of the HTTP API', { shuffle: false }, () => {
  let api: Api;
  let auth: Record<string, string>;
  let actor: string;
  let ended: RunHandle;
  let token: string;
  const ids: Record<string, string> = {};

  const call = (method: string, path: string, body?: unknown): Promise<Answer> =>
    api.call(method, `/v1${path}`, body, auth);

  beforeAll(async () => {
    const hanging = fakeModel(
      (options) =>
        ({
          stream: (async function* () {
            await new Promise((_, reject) =>
              options.abortSignal?.addEventListener('abort', () => reject(new Error('cut'))),
            );
            yield { type: 'finish' } as never;
          })(),
        }) as never,
    );
    api = await startApi({
      agents,
      models: { fake: () => hanging },
      server: { apiKey: 'root' },
      tokenSecrets: ['s'.repeat(32)],
    });
    const key = await mintKey(api.call, bearer('root'), { scopes: ['read', 'run', 'steer', 'approve', 'admin'] });
    ({ auth } = key);
    actor = `key:${key.id}`;
    const { runs, threads, cases } = api.lanefold;
    for (const id of ['one', 'plain']) await threads.create({ id });
    ended = await runs.enqueue({ agent: 'echo', input: 'hi', threadId: 'one' });
    await runs.wait(ended);
    const entries = await threads.entries('one', { limit: 100 });
    ids['call'] = String(entries.map(({ refs }) => refs['llm_call_id']).find(Boolean));
    ids['case'] = (await cases.keep({ threadId: 'one', runId: ended.id, dataset: 'd' })).id;
    token = (await runs.checkpoint(ended)).token;
  });
  afterAll(() => api?.close());

  async function rowsOf(act: Act): Promise<{ answer: Answer; rows: { actor: string; action: string }[] }> {
    const { pool } = api.lanefold.database;
    const { rows: last } = await pool.query<{ no: string }>('select coalesce(max(no), 0) as no from lanefold.audit');
    const answer = await act();
    const text = 'select actor, action from lanefold.audit where no > $1 order by no';
    return { answer, rows: (await pool.query<{ actor: string; action: string }>(text, [last[0]!.no])).rows };
  }

  async function suspended(agent: string): Promise<string> {
    const run = await api.lanefold.runs.enqueue({ agent, input: 'go' });
    await until('its call waits', async () => (await api.lanefold.runs.get(run)).status === 'suspended');
    return `/threads/${run.threadId}/runs/${run.id}`;
  }
  const queued = async (threadId?: string): Promise<RunHandle> =>
    api.lanefold.runs.enqueue({
      agent: 'echo',
      input: 'later',
      delayMs: 3_600_000,
      ...(threadId ? { threadId, createThread: true } : {}),
    });
  const onCall =
    (agent: string, what: string): Act =>
    async () =>
      call('POST', `${await suspended(agent)}/tool-calls/1.0/${what}`, {});
  const withStream =
    (path: string): Act =>
    async () => {
      const made = await api.call('PUT', `/v1${path}`, undefined, { ...auth, 'content-type': 'text/plain' });
      expect(made.status).toBe(201);
      return call('DELETE', path);
    };
  const ofEval = async (): Promise<string> => {
    const { id } = await api.lanefold.evals.run({ dataset: 'd' });
    await api.lanefold.evals.wait(id);
    return id;
  };

  const many = async (path: string, filter: object, more: object): Promise<Answer> => {
    const preview = await call('POST', path, { filter, ...more, dry_run: true });
    const { created_before: createdBefore } = preview.body as { created_before: string };
    return call('POST', path, { filter: { ...filter, created_before: createdBefore }, ...more });
  };

  const walk: Record<string, Acts> = {
    changeConfig: [
      () => call('PATCH', '/threads/plain/config', { system_prompt: 'Be kind.' }),
      () => call('PATCH', '/threads/none/config', { system_prompt: 'Be kind.' }),
    ],
    applyContextOperation: [
      () =>
        call('POST', '/threads/one/context-operations', {
          op_id: 'op',
          context_ref: 'other',
          operation: { type: 'switch' },
        }),
      () =>
        call('POST', '/threads/none/context-operations', {
          op_id: 'op',
          context_ref: 'other',
          operation: { type: 'switch' },
        }),
    ],
    branchThread: [
      () => call('POST', '/threads/one/branch', { after_seq: -1, show: false }),
      () => call('POST', '/threads/none/branch', { after_seq: -1 }),
    ],
    showLane: [
      () => call('POST', '/threads/one/contexts/default/show', {}),
      () => call('POST', '/threads/none/contexts/default/show', {}),
    ],
    resetLane: [
      () => call('POST', '/threads/one/contexts/default/reset', {}),
      () => call('POST', '/threads/none/contexts/default/reset', {}),
    ],
    compactLane: [
      () => call('POST', '/threads/one/compact', { agent: 'echo', context_ref: 'default' }),
      () => call('POST', '/threads/none/compact', { agent: 'echo' }),
    ],
    replayCall: [
      () => call('POST', `/threads/one/calls/${ids['call']}/replay`, {}),
      () => call('POST', '/threads/one/calls/none/replay', {}),
    ],
    forkThread: [
      () => call('POST', '/threads/one/fork', { id: 'forked' }),
      () => call('POST', '/threads/one/fork', { id: 'forked', metadata: { other: true } }),
    ],
    importThread: [
      () =>
        call('POST', '/threads/import', {
          format: 'openai',
          id: 'imported',
          items: [{ role: 'user', content: 'hi' }],
        }),
      () =>
        call('POST', '/threads/import', {
          format: 'openai',
          id: 'imported',
          items: [{ role: 'user', content: 'ho' }],
        }),
    ],
    rerunRun: [
      () => call('POST', `/threads/one/runs/${ended.id}/rerun`, { thread_id: 'again' }),
      () => call('POST', '/threads/one/runs/none/rerun', { thread_id: 'again2' }),
    ],
    cancelRun: [
      async () => {
        const run = await queued();
        return call('POST', `/threads/${run.threadId}/runs/${run.id}/cancel`, {});
      },
      () => call('POST', '/threads/one/runs/none/cancel', {}),
    ],
    cancelByToken: [
      async () => {
        const run = await queued();
        return call('POST', '/runs/cancel', { token: (await api.lanefold.runs.checkpoint(run)).token });
      },
      () => call('POST', '/runs/cancel', { token: `${token}x` }),
    ],
    approveToolCall: [
      onCall('payer', 'approve'),
      () => call('POST', `/threads/one/runs/${ended.id}/tool-calls/1.0/approve`, {}),
    ],
    denyToolCall: [
      onCall('payer', 'deny'),
      () => call('POST', `/threads/one/runs/${ended.id}/tool-calls/1.0/deny`, {}),
    ],
    resolveWait: [
      onCall('listener', 'resolve'),
      () => call('POST', `/threads/one/runs/${ended.id}/tool-calls/1.0/resolve`, {}),
    ],
    createEventToken: [
      () => call('POST', '/events/bell/tokens', {}),
      () => call('POST', `/events/${'b'.repeat(300)}/tokens`, {}),
    ],
    deleteStream: [withStream('/stream/mine'), () => call('DELETE', '/stream/none')],
    deleteThreadStream: [withStream('/threads/one/streams/mine'), () => call('DELETE', '/threads/one/streams/none')],
    eraseThread: [
      async () => {
        const { id } = await api.lanefold.threads.create({});
        return call('DELETE', `/threads/${id}`);
      },
      async () => call('DELETE', `/threads/${(await queued('busy')).threadId}`),
    ],
    eraseTenant: [
      () => call('DELETE', '/tenants/acme/threads'),
      () => call('DELETE', `/tenants/${'b'.repeat(300)}/threads`),
    ],
    keepCase: [
      () => call('POST', '/cases', { thread_id: 'one', run_id: ended.id, dataset: 'kept' }),
      () => call('POST', '/cases', { thread_id: 'one', run_id: ended.id, dataset: 'kept' }),
    ],
    updateCase: [
      () => call('PATCH', `/cases/${ids['case']}`, { note: 'n' }),
      () => call('PATCH', '/cases/none', { note: 'n' }),
    ],
    removeCase: [
      async () => {
        const { id } = await api.lanefold.cases.keep({ threadId: 'one', runId: ended.id, dataset: 'gone' });
        return call('DELETE', `/cases/${id}`);
      },
      () => call('DELETE', '/cases/none'),
    ],
    startEval: [() => call('POST', '/evals', { dataset: 'd' }), () => call('POST', '/evals', { dataset: 'none' })],
    stopEval: [
      async () =>
        call(
          'POST',
          `/evals/${(await api.lanefold.evals.run({ dataset: 'd', fresh: true, variants: [{ agent: 'hanging' }] })).id}/stop`,
        ),
      async () => call('POST', `/evals/${await ofEval()}/stop`),
    ],
    rescoreEval: [
      async () => {
        const id = await ofEval();
        const answer = await call('POST', `/evals/${id}/rescore`);
        await api.lanefold.evals.wait(id);
        return answer;
      },
      () => call('POST', '/evals/none/rescore'),
    ],
    removeEval: [async () => call('DELETE', `/evals/${await ofEval()}`), () => call('DELETE', '/evals/none')],
    createKey: [
      () => call('POST', '/keys', { name: 'a', scopes: ['read'] }),
      () => call('POST', '/keys', { name: 'a', scopes: ['read'], agents: [] }),
    ],
    rotateKey: [
      async () =>
        call('POST', `/keys/${(await api.lanefold.keys.create({ name: 'r', scopes: ['read'] })).id}/rotate`, {}),
      () => call('POST', '/keys/key_none/rotate', {}),
    ],
    revokeKey: [
      async () => call('DELETE', `/keys/${(await api.lanefold.keys.create({ name: 'r', scopes: ['read'] })).id}`),
      () => call('DELETE', '/keys/key_none'),
    ],
    setLimit: [
      () => call('PUT', '/limits/mine', { kind: 'concurrency', amount: 100 }),
      () => call('PUT', '/limits/mine', { kind: 'money', amount: 1, per: 'day' }),
    ],
    removeLimit: [() => call('DELETE', '/limits/mine'), () => call('DELETE', '/limits/mine')],
    setMonitor: [
      () => call('PUT', '/monitors/m', { agents: ['payer'], scorers: ['ok'], sample: 1 }),
      () => call('PUT', '/monitors/m', { agents: ['payer'], scorers: ['ok'], sample: 7 }),
    ],
    removeMonitor: [() => call('DELETE', '/monitors/m'), () => call('DELETE', '/monitors/m')],
    setAlarm: [
      () => call('PUT', '/alarms/a', { filter: { status: 'failed' } }),
      () => call('PUT', '/alarms/a', { filter: { status: 'failed' }, more_than: -1 }),
    ],
    pauseAlarm: [() => call('POST', '/alarms/a/pause'), () => call('POST', '/alarms/none/pause')],
    resumeAlarm: [() => call('POST', '/alarms/a/resume'), () => call('POST', '/alarms/none/resume')],
    removeAlarm: [() => call('DELETE', '/alarms/a'), () => call('DELETE', '/alarms/a')],
    openCircuit: [
      () => call('POST', '/circuits/some:model/open', { reason: 'maintenance' }),
      () => call('POST', '/circuits/some:model/open', { reason: 'maintenance', until: '2020-01-01T00:00:00Z' }),
    ],
    closeCircuit: [() => call('POST', '/circuits/some:model/close'), () => call('POST', '/circuits/no:model/close')],
    cancelRuns: [
      async () => {
        await queued();
        return many('/runs/cancel-many', { agent: 'echo', status: 'queued' }, { limit: 1 });
      },
      () => call('POST', '/runs/cancel-many', { filter: { agent: 'echo' } }),
    ],
    retryRuns: [
      async () => many('/runs/retry-many', { agent: 'echo', status: 'completed' }, { limit: 1 }),
      () => call('POST', '/runs/retry-many', { filter: { agent: 'echo' } }),
    ],
    releaseRuns: [
      async () => {
        await suspended('listener');
        return many('/runs/release-many', { agent: 'listener' }, { limit: 1 });
      },
      () => call('POST', '/runs/release-many', { filter: { agent: 'echo' } }),
    ],
    keepRuns: [
      async () => many('/cases/keep-many', { agent: 'echo', status: 'completed' }, { limit: 1, dataset: 'many' }),
      () => call('POST', '/cases/keep-many', { filter: { agent: 'echo' }, dataset: 'many' }),
    ],
    setRollout: [
      () => call('PUT', '/agents/payer/rollout', { shares: { a: 1 } }),
      () => call('PUT', '/agents/payer/rollout', { shares: { a: -1 } }),
    ],
    moveThread: [
      () => call('POST', '/agents/payer/rollout/moves', { thread_id: 'one', version: 'a' }),
      () => call('POST', '/agents/payer/rollout/moves', { thread_id: 'none', version: 'a' }),
    ],
    removeRollout: [() => call('DELETE', '/agents/payer/rollout'), () => call('DELETE', '/agents/payer/rollout')],
    setSchedule: [
      () => call('PUT', '/schedules/s', { agent: 'echo', input: 'hi', cron: '0 0 1 1 *' }),
      () => call('PUT', '/schedules/s', { agent: 'echo', input: 'hi', cron: 'never' }),
    ],
    pauseSchedule: [() => call('POST', '/schedules/s/pause'), () => call('POST', '/schedules/none/pause')],
    resumeSchedule: [() => call('POST', '/schedules/s/resume'), () => call('POST', '/schedules/none/resume')],
    removeSchedule: [() => call('DELETE', '/schedules/s'), () => call('DELETE', '/schedules/s')],
    setWebhook: [
      () => call('PUT', '/webhooks/w', { url: 'https://1.1.1.1/a' }),
      () => call('PUT', '/webhooks/w', { url: 'https://10.0.0.1/a' }),
    ],
    rotateWebhook: [() => call('POST', '/webhooks/w/rotate', {}), () => call('POST', '/webhooks/none/rotate', {})],
    pauseWebhook: [() => call('POST', '/webhooks/w/pause'), () => call('POST', '/webhooks/none/pause')],
    testWebhook: [() => call('POST', '/webhooks/w/test'), () => call('POST', '/webhooks/none/test')],
    redeliverWebhook: [
      async () => {
        const { pool } = api.lanefold.database;
        await until('its test has failed', async () => {
          const text = "update lanefold._webhook_delivery set status = 'failed', settled_at = now() returning id";
          const { rows } = await pool.query<{ id: string }>(text);
          ids['delivery'] = rows[0]?.id ?? '';
          return rows.length > 0;
        });
        return call('POST', '/webhooks/w/redeliver', { id: ids['delivery'] });
      },
      () => call('POST', '/webhooks/w/redeliver', { id: 'none' }),
    ],
    resumeWebhook: [() => call('POST', '/webhooks/w/resume'), () => call('POST', '/webhooks/none/resume')],
    removeWebhook: [() => call('DELETE', '/webhooks/w'), () => call('DELETE', '/webhooks/w')],
  };

  test('knows every operation that writes', async () => {
    const { body } = await api.call('GET', '/openapi.json', undefined, bearer('root'));
    const writing = operationsOf(body as OpenApi).filter(({ method }) => method !== 'GET' && method !== 'HEAD');
    expect(writing.map(({ operationId }) => operationId).sort()).toEqual([...Object.keys(walk), ...unaudited].sort());
  });

  // a distributed database imports nothing
  const possible = Object.keys(walk).filter((operation) => !onCitus || operation !== 'importThread');
  test.each(possible)('%s: one row if it is carried out, none if it is refused', async (operation) => {
    const [done, refused] = walk[operation]!;
    const carried = await rowsOf(done);
    expect(carried.answer.status, carried.answer.text).toBeLessThan(300);
    expect(carried.rows.filter((row) => row.actor === actor)).toHaveLength(1);
    const other = await rowsOf(refused);
    expect(other.answer.status, other.answer.text).toBeGreaterThanOrEqual(400);
    expect(other.rows.filter((row) => row.actor === actor)).toEqual([]);
  });

  test('a repeated decision, which changes nothing, has no second row', async () => {
    const path = `${await suspended('payer')}/tool-calls/1.0/approve`;
    const twice = await rowsOf(async () => {
      await call('POST', path, {});
      return call('POST', path, {});
    });
    expect([twice.answer.status, twice.rows.length]).toEqual([200, 1]);
  });

  // its threads are on other nodes than its audit
  test.skipIf(onCitus)('an act whose row cannot be written is not carried out', async () => {
    const { pool } = api.lanefold.database;
    const path = await suspended('payer');
    await pool.query("alter table lanefold._audit add constraint closed check (action <> 'approveToolCall') not valid");
    try {
      expect((await call('POST', `${path}/tool-calls/1.0/approve`, {})).status).toBe(503);
      expect((await call('GET', path)).body).toMatchObject({ status: 'suspended' });
    } finally {
      await pool.query('alter table lanefold._audit drop constraint closed');
    }
  });
});
