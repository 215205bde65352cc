import { defineAgent, type ContentPart, type EnqueueOptions } from 'lanefold';
import type { NewBrowserToken } from '../../src/runs/operations/access/types.ts';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { startLanefold, type TestLanefold } from '../support/lanefold.ts';

const agents = [defineAgent({ name: 'a', model: 'scripted:echo' })];
const ok: EnqueueOptions = { agent: 'a', input: 'hi' };

describe('a rejected request', () => {
  let lanefold: TestLanefold;
  beforeAll(async () => {
    vi.stubEnv('OPENAI_API_KEY', undefined);
    vi.stubEnv('OPENAI_BASE_URL', undefined);
    lanefold = await startLanefold({ agents });
    // Without a worker the thread stays busy.
    await lanefold.runs.enqueue({ ...ok, threadId: 'busy', createThread: true, requestId: 'r1' });
    await lanefold.threads.create({ id: 'idle' });
    await lanefold.threads.create({ id: 'gone' });
    await lanefold.threads.erase('gone');
  });
  afterAll(async () => {
    vi.unstubAllEnvs();
    await lanefold?.close();
  });

  const storedRows = async () => {
    const { rows } = await lanefold.database.pool.query(
      `select (select json_agg(t order by id) from lanefold.thread t) as threads,
         (select json_agg(r order by id) from lanefold._run r) as runs,
         (select count(*) from lanefold.thread_entry) as entries, (select count(*) from lanefold.run_event) as events`,
    );
    return rows[0];
  };

  const cases: [string, string, Partial<Record<keyof EnqueueOptions, unknown>>][] = [
    ['an unknown agent', 'unknown_agent', { agent: 'b' }],
    ['an unknown model', 'unknown_model', { model: 'nobody:m' }],
    ['a malformed script', 'unknown_model', { model: 'scripted:[' }],
    ['a thread id with a space', 'invalid_id', { threadId: 'a b', createThread: true }],
    ['an empty thread id', 'invalid_id', { threadId: '', createThread: true }],
    ['a thread id of 129 bytes', 'invalid_id', { threadId: 'x'.repeat(129), createThread: true }],
    ['a request id that starts with a dash', 'invalid_id', { requestId: '-r' }],
    ['a lane that is not a string', 'invalid_id', { contextRef: 7 }],
    ['an empty input', 'empty_content', { input: '' }],
    ['a blank input', 'empty_content', { input: ' \n\u0085\u00a0\u3000' }],
    ['a blank part', 'empty_content', { input: [{ type: 'text', text: '\u00a0' }] }],
    ['refs of the runtime', 'invalid_input', { extraRefs: { durable: true } }],
    ['an input without parts', 'empty_content', { input: [] }],
    ['no input', 'invalid_input', { input: undefined }],
    ['an input that is a number', 'invalid_input', { input: 7 }],
    ['a part of an unknown type', 'invalid_input', { input: [{ type: 'smell' }] as ContentPart[] }],
    ['a file without data', 'invalid_input', { input: [{ type: 'file', media_type: 'image/png' }] }],
    ['an image_url without a url', 'invalid_input', { input: [{ type: 'image_url', image_url: {} }] }],
    ['an image that is not base64', 'invalid_input', { input: [{ type: 'image', image: 'no image' }] }],
    ['an image of no bytes', 'invalid_input', { input: [{ type: 'image', image: new Uint8Array() }] }],
    ['a part that is null', 'invalid_input', { input: [null] }],
    ['a limit of 0 iterations', 'invalid_input', { maxIterations: 0 }],
    ['a fractional limit of iterations', 'invalid_input', { maxIterations: 1.5 }],
    ['NUL in the input', 'invalid_text', { input: 'a\u0000' }],
    ['a lone surrogate in a part', 'invalid_text', { input: [{ type: 'text', text: '\ud800' }] }],
    ['NUL in a key of the tool context', 'invalid_text', { toolContext: { 'k\u0000': 1 } }],
    ['NUL in the refs', 'invalid_text', { extraRefs: { a: ['\u0000'] } }],
    ['a busy thread', 'thread_busy', { threadId: 'busy' }],
    ['an unknown thread', 'thread_not_found', { threadId: 'nowhere' }],
    ['an erased thread', 'thread_erased', { threadId: 'gone' }],
    [
      'a known request id with a different body',
      'idempotency_mismatch',
      { threadId: 'busy', requestId: 'r1', input: 'ho' },
    ],
  ];

  const run = { threadId: 'busy', id: 'r1' };
  const stray: [string, (options: object) => Promise<unknown> | AsyncIterable<unknown>][] = [
    ['threads.create', (o) => lanefold.threads.create(o)],
    ['threads.fork', (o) => lanefold.threads.fork('idle', o)],
    ['threads.tree', (o) => lanefold.threads.tree('idle', o)],
    ['feedback.give', (o) => lanefold.feedback.give('idle', { answerSeq: 0, ...o })],
    ['feedback.list', (o) => lanefold.feedback.list(o)],
    ['threads.import', (o) => lanefold.threads.import({ format: 'openai', items: [] }, o)],
    ['threads.list', (o) => lanefold.threads.list(o)],
    ['threads.append', (o) => lanefold.threads.append('idle', [], o)],
    ['threads.entries', (o) => lanefold.threads.entries('idle', o)],
    ['threads.entryPage', (o) => lanefold.threads.entryPage('idle', o)],
    ['threads.readContent', (o) => lanefold.threads.readContent('idle', 'c_1', o)],
    ['threads.agUiSnapshot', (o) => lanefold.threads.agUiSnapshot('idle', o)],
    ['threads.uiMessages', (o) => lanefold.threads.uiMessages('idle', o)],
    ['threads.config', (o) => lanefold.threads.config('idle', o)],
    ['threads.configure', (o) => lanefold.threads.configure('idle', o)],
    ['threads.events', (o) => lanefold.threads.events('idle', o)],
    ['stream', (o) => lanefold.threads.stream('idle', o)],
    ['stream', (o) => lanefold.runs.stream(run, o)],
    ['streamTree', (o) => lanefold.runs.streamTree(run, o)],
    ['streamTree', (o) => lanefold.streams.openTree(run, o)],
    ['stream', (o) => lanefold.streams.open('idle', undefined, o)],
    ['runs.enqueue', (o) => lanefold.runs.enqueue(ok, o)],
    ['runs.enqueueMany', (o) => lanefold.runs.enqueueMany([ok], o)],
    ['runs.retry', (o) => lanefold.runs.retry(run, o)],
    ['runs.rerun', (o) => lanefold.runs.rerun(run, o)],
    ['runs.wait', (o) => lanefold.runs.wait(run, o)],
    ['runs.list', (o) => lanefold.runs.list(o)],
    ['runs.counts', (o) => lanefold.runs.counts(o)],
    ['runs.events', (o) => lanefold.runs.events(run, o)],
    ['runs.nodes', (o) => lanefold.runs.nodes(run, o)],
    ['runs.inputs', (o) => lanefold.runs.inputs(run, o)],
    ['runs.steer', (o) => lanefold.runs.steer('busy', 'x', o)],
    ['runs.checkpoint', (o) => lanefold.runs.checkpoint(run, o)],
    ['runs.collect', (o) => lanefold.runs.collect('rt2.x', o)],
    ['contexts.project', (o) => lanefold.contexts.project('idle', o)],
    ['contexts.reset', (o) => lanefold.contexts.reset('idle', o)],
    ['contexts.compact', (o) => lanefold.contexts.compact('idle', o)],
    ['contexts.diff', (o) => lanefold.contexts.diff({ threadId: 'idle' }, { threadId: 'idle', ...o })],
    ['contexts.replayCall', (o) => lanefold.contexts.replayCall('idle', 'x.1', o)],
    ['limits.set', (o) => lanefold.limits.set('l', { kind: 'concurrency', amount: 1 }, o)],
    ['limits.remove', (o) => lanefold.limits.remove('l', o)],
    ['limits.usage', (o) => lanefold.limits.usage(o)],
    ['limits.holders', (o) => lanefold.limits.holders(o)],
    ['schedules.set', (o) => lanefold.schedules.set('s', { agent: 'a', input: 'x', cron: '@daily' }, o)],
    ['schedules.remove', (o) => lanefold.schedules.remove('s', o)],
    ['schedules.pause', (o) => lanefold.schedules.pause('s', o)],
    ['schedules.resume', (o) => lanefold.schedules.resume('s', o)],
    ['schedules.get', (o) => lanefold.schedules.get('s', o)],
    ['monitors.set', (o) => lanefold.monitors.set('m', { scorers: ['short'] }, o)],
    ['monitors.get', (o) => lanefold.monitors.get('m', o)],
    ['monitors.remove', (o) => lanefold.monitors.remove('m', o)],
    ['monitors.scores', (o) => lanefold.monitors.scores('m', o)],
    ['alarms.set', (o) => lanefold.alarms.set('a', { filter: {} }, o)],
    ['alarms.get', (o) => lanefold.alarms.get('a', o)],
    ['alarms.remove', (o) => lanefold.alarms.remove('a', o)],
    ['alarms.pause', (o) => lanefold.alarms.pause('a', o)],
    ['alarms.resume', (o) => lanefold.alarms.resume('a', o)],
    ['alarms.counts', (o) => lanefold.alarms.counts('a', o)],
    ['circuits.open', (o) => lanefold.circuits.open('some:model', { reason: 'x' }, o)],
    ['circuits.close', (o) => lanefold.circuits.close('some:model', o)],
    ['runs.cancelMany', (o) => lanefold.runs.cancelMany({}, o)],
    ['runs.retryMany', (o) => lanefold.runs.retryMany({}, o)],
    ['runs.releaseMany', (o) => lanefold.runs.releaseMany({}, o)],
    ['cases.keepMany', (o) => lanefold.cases.keepMany({}, 'd', o)],
    ['webhooks.set', (o) => lanefold.webhooks.set('w', { url: 'https://example.com' }, o)],
    ['webhooks.remove', (o) => lanefold.webhooks.remove('w', o)],
    ['webhooks.pause', (o) => lanefold.webhooks.pause('w', o)],
    ['webhooks.resume', (o) => lanefold.webhooks.resume('w', o)],
    ['webhooks.rotate', (o) => lanefold.webhooks.rotate('w', o)],
    ['webhooks.test', (o) => lanefold.webhooks.test('w', o)],
    ['webhooks.get', (o) => lanefold.webhooks.get('w', o)],
    ['webhooks.deliveries', (o) => lanefold.webhooks.deliveries('w', o)],
    ['webhooks.redeliver', (o) => lanefold.webhooks.redeliver('w', { id: 'x', ...o })],
    ['evals.run', (o) => lanefold.evals.run({ dataset: 'd' }, o)],
    ['evals.run', (o) => lanefold.evals.run({ dataset: 'd', ...o })],
    ['evals.list', (o) => lanefold.evals.list(o)],
    ['evals.items', (o) => lanefold.evals.items('e', o)],
    ['evals.report', (o) => lanefold.evals.report('e', o)],
    ['evals.wait', (o) => lanefold.evals.wait('e', o)],
    ['evals.cancel', (o) => lanefold.evals.cancel('e', o)],
    ['evals.rescore', (o) => lanefold.evals.rescore('e', o)],
    ['evals.remove', (o) => lanefold.evals.remove('e', o)],
    ['cases.keep', (o) => lanefold.cases.keep({ threadId: 'idle', runId: 'x', dataset: 'd' }, o)],
    ['cases.update', (o) => lanefold.cases.update('c', o)],
    ['cases.update', (o) => lanefold.cases.update('c', {}, o)],
    ['cases.list', (o) => lanefold.cases.list(o)],
    ['cases.export', (o) => lanefold.cases.export('d', o).next()],
    ['cases.import', (o) => lanefold.cases.import('d', ['{}'], o)],
    ['cases.remove', (o) => lanefold.cases.remove('c', o)],
    ['schedules.list', (o) => lanefold.schedules.list(o)],
    ['schedules.slots', (o) => lanefold.schedules.slots('s', o)],
    ['events.send', (o) => lanefold.events.send('e', null, o)],
    ['events.token', (o) => lanefold.events.token('e', o)],
    ['waits.list', (o) => lanefold.waits.list(o)],
    ['waits.resolve', (o) => lanefold.waits.resolve(run, '1.0', o)],
    ['audit.list', (o) => lanefold.audit.list(o)],
    ['approvals.list', (o) => lanefold.approvals.list(o)],
    ['threads.configure', (o) => lanefold.threads.configure('idle', {}, o)],
    ['threads.eraseTenant', (o) => lanefold.threads.eraseTenant('nobody', o)],
    ['runs.unfinished', (o) => lanefold.runs.unfinished({ caller: 'c', ...o })],
    ['runs.inject', (o) => lanefold.runs.inject('busy', 'x', o)],
    ['runs.approve', (o) => lanefold.runs.approve(run, '1.0', o)],
    ['runs.deny', (o) => lanefold.runs.deny(run, '1.0', o)],
    ['runs.resume', (o) => lanefold.runs.resume('rt2.x', o)],
    ['contexts.replace', (o) => lanefold.contexts.replace('idle', { entries: [], ...o })],
    ['contexts.replace', (o) => lanefold.contexts.replace('idle', { entries: [] }, o)],
    ['contexts.show', (o) => lanefold.contexts.show('idle', 'default', o)],
    ['contexts.switch', (o) => lanefold.contexts.switch('idle', 'draft', o)],
    ['keys.rotate', (o) => lanefold.keys.rotate('key_x', o)],
    ['keys.revoke', (o) => lanefold.keys.revoke('key_x', o)],
    // it is the one method that answers at once
    [
      'keys.browserToken',
      async (o) => lanefold.keys.browserToken({ threadId: 'idle', access: 'read', ...o } as NewBrowserToken),
    ],
    ['evidence.verify', (o) => lanefold.evidence.verify('idle', { heads: [], key: 'x', ...o })],
    ['evidence.verifyAll', (o) => lanefold.evidence.verifyAll({ heads: [], key: 'x', ...o })],
    ['agents.versions', (o) => lanefold.agents.versions('echo', o)],
    ['agents.setRollout', (o) => lanefold.agents.setRollout('echo', { shares: { a: 1 } }, o)],
    ['agents.removeRollout', (o) => lanefold.agents.removeRollout('echo', o)],
    ['agents.moveThread', (o) => lanefold.agents.moveThread('t', 'echo', null, o)],
    ['workers.list', (o) => lanefold.workers.list(o)],
    ['tenants.configure', (o) => lanefold.tenants.configure('nobody', {}, o)],
    ['library.activity', (o) => lanefold.activity(o)],
  ];
  /** Methods without options, and those whose own check another test is about. */
  const plain = [
    'threads.get',
    'threads.peek',
    'threads.marks',
    'threads.erase',
    'threads.export',
    'threads.stream',
    'threads.runOf',
    'runs.get',
    'runs.cancel',
    'runs.ranOnly',
    'runs.stream',
    'runs.streamTree',
    'runs.tree',
    'contexts.call',
    'contexts.lanes',
    'keys.create',
    'keys.list',
    'keys.get',
    'keys.find',
    'keys.holder',
    'audit.write',
    'audit.writeRead',
    'evidence.heads',
    'limits.list',
    'limits.totals',
    'events.checkToken',
    'events.sendSigned',
    'webhooks.list',
    'monitors.list',
    'alarms.list',
    'circuits.list',
    // the stray option of this test is its own
    'threads.branch',
    'threads.branches',
    'threads.questionOf',
    'threads.placeOfRun',
    'threads.waitingBranch',
    'streams.open',
    'streams.openTree',
    'streams.follow',
    'streams.arrived',
    'streams.forTenant',
    'streams.close',
    'tenants.limits',
    'cases.get',
    'cases.datasets',
    'evals.get',
    'tenants.list',
    'agents.list',
    'agents.diff',
    'agents.rollouts',
  ];

  test('every method of the library is among those that refuse what they do not take, or takes no options', () => {
    const parts = { ...lanefold } as Record<string, unknown>;
    const methods = Object.entries(parts).flatMap(([part, methods]) =>
      ['database', 'log', 'options', 'queues'].includes(part) || typeof methods !== 'object' || methods === null
        ? []
        : Object.entries(methods).flatMap(([name, method]) =>
            typeof method === 'function' ? [`${part}.${name}`] : [],
          ),
    );
    expect(methods).toContain('threads.create');
    const known = new Set([...stray.map(([method]) => method), ...plain]);
    expect(methods.filter((method) => !known.has(method))).toEqual([]);
  });

  test.each(stray)('%s refuses an option that it does not take', async (method, call) => {
    const before = await storedRows();
    const attempt = async () => {
      const answer = call({ afterSeq: 3 });
      if (!(Symbol.asyncIterator in answer)) return answer;
      for await (const _ of answer) break;
      return undefined;
    };
    await expect(attempt()).rejects.toMatchObject({
      code: 'invalid_input',
      message: `${method} does not take "afterSeq".`,
      hint: expect.stringMatching(/^(It takes|Did you mean) /),
    });
    expect(await storedRows()).toEqual(before);
  });

  test('of a read says which option was meant', async () => {
    const reads = [
      lanefold.threads.entries('idle', { limits: 1 } as object),
      lanefold.runs.list({ agnt: 'a' } as object),
      lanefold.contexts.project('idle', { atSec: 1 } as object),
    ];
    const hints = (await Promise.allSettled(reads)).map((read) => (read as PromiseRejectedResult).reason.hint);
    expect(hints).toEqual(['limit', 'agent', 'atSeq'].map((meant) => `Did you mean "${meant}"?`));
  });

  test.each(cases)('%s: fails with %s and writes nothing', async (_, code, options) => {
    const before = await storedRows();
    const error = await lanefold.runs.enqueue({ ...ok, ...options } as EnqueueOptions).catch((e: unknown) => e);
    expect(error).toMatchObject({ name: 'LanefoldError', code, hint: expect.stringMatching(/\w/) });
    expect(await storedRows()).toEqual(before);
  });

  test('a missing provider key: the error names the variable', async () => {
    const before = await storedRows();
    const error = await lanefold.runs.enqueue({ ...ok, model: 'openai:gpt-5' }).catch((e: unknown) => e as Error);
    expect(error).toMatchObject({ code: 'missing_provider_key' });
    expect(`${(error as Error).message} ${(error as { hint?: string }).hint}`).toContain('OPENAI_API_KEY');
    expect(await storedRows()).toEqual(before);
  });

  test('an unknown run: get, wait and cancel fail', async () => {
    const unknownRun = { threadId: 'idle', id: 'run_x' };
    await expect(lanefold.runs.get(unknownRun)).rejects.toMatchObject({ code: 'run_not_found' });
    await expect(lanefold.runs.wait(unknownRun)).rejects.toMatchObject({ code: 'run_not_found' });
    await expect(lanefold.runs.cancel(unknownRun)).rejects.toMatchObject({ code: 'run_not_found' });
    await expect(lanefold.runs.cancel({ threadId: 'nowhere', id: 'run_x' })).rejects.toMatchObject({
      code: 'thread_not_found',
    });
  });
});
