// @module-tag slow
import type { RunHandle } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { contextOf, entriesOf } from '../support/log.ts';
import { until } from '../support/until.ts';
import { script, startCrashHarness, type Crash, type CrashedRun, type CrashHarness } from './crash-harness.ts';
import type { Answer, ExternalCall } from './fixtures/call-server.ts';
import { patient } from './harness.ts';

// one worker process has all of these runs and is killed once
describe('a worker that is killed', () => {
  let harness: CrashHarness;
  let crashed: Record<keyof typeof crashes, CrashedRun>;
  /** The run that interrupts another one. */
  let next: RunHandle | undefined;
  const approvals: Promise<void>[] = [];

  const isModelTurn = (turn: number) => (call: ExternalCall) => call.kind === 'model' && call.turn === turn;
  const isTool = (name: string) => (call: ExternalCall) => call.kind === 'tool' && call.name === name;

  /** Dies in `send` when the other tools of its round have ended; its verification then finds this. */
  const inVerifiable = (found: Answer): Crash => ({
    during: isTool('send'),
    stored: 2,
    respond: (call) => (call.kind === 'verify' ? found : script(call)),
  });

  /** Three tools that set fields of the state; the worker dies when some of their outcomes are stored. */
  const withEffects = (stored: number): Crash => ({
    during: (call) => call.kind === 'tool' && Number(call.key.split(':').at(-1)) >= stored,
    stored,
    respond: (call) => {
      const index = call.key.split(':').at(-1)!;
      if (call.kind === 'tool')
        return { result: index, effects: [{ op: 'set', value: { last: index, [`n${index}`]: true } }] };
      const calls = [0, 1, 2].map((i) => ({ id: `c${i}`, name: 'look' }));
      return call.turn === 0 ? { calls } : { text: 'Done.' };
    },
  });

  const signing = (call: ExternalCall): Answer => {
    if (call.kind === 'tool') return { result: `${call.name} done` };
    const calls = ['look', 'sign'].map((name, i) => ({ id: `c${i}`, name }));
    return call.turn === 0 ? { calls } : { text: 'Signed.' };
  };
  const approve = async (run: RunHandle) => {
    await until('the run is suspended', async () => (await harness.runs.get(run)).status === 'suspended');
    await harness.runs.approve(run, '1.1');
  };
  const approveLater = async (run: RunHandle) => void approvals.push(approve(run));

  const crashes = {
    model: { during: isModelTurn(1) },
    safe: { during: (call) => call.kind === 'tool' && call.key.endsWith(':2:0') },
    never: { during: isTool('charge'), stored: 2 },
    found: inVerifiable({ result: 'send done' }),
    missing: inVerifiable(null),
    unverified: inVerifiable({ error: 'the ledger of the bank is down' }),
    cancelled: { during: (call) => call.kind === 'tool', meanwhile: (run) => harness.runs.cancel(run) },
    interrupted: {
      during: (call) => call.kind === 'tool',
      respond: (call) => (call.userMessages === 2 ? { text: 'Instead.' } : script(call)),
      async meanwhile({ threadId }) {
        next = await harness.runs.enqueue({ agent: 'fault', input: 'instead', threadId, busy: 'interrupt' });
      },
    },
    twice: { during: isModelTurn(1), twice: true },
    one: withEffects(1),
    two: withEffects(2),
    approved: { during: isTool('sign'), respond: signing, before: approveLater },
    unsuspended: { point: 'after record_tool_call 1', respond: signing, meanwhile: approveLater },
    // the first suspension is that of `approved`
    suspended: { dieAfter: 'suspend_run:2', respond: signing, meanwhile: approve },
  } satisfies Record<string, Crash>;

  beforeAll(async () => {
    harness = await startCrashHarness();
    crashed = await harness.crash<keyof typeof crashes>(crashes);
    await Promise.all(approvals);
  });
  afterAll(() => harness?.close());

  const statuses = (run: CrashedRun) => run.ledger.map((row) => row.status);
  const count = (run: CrashedRun, what: (call: ExternalCall) => boolean) => run.calls.filter(what).length;
  const kindsOf = (run: CrashedRun, wanted: string) => run.events.filter(({ kind }) => kind === wanted);

  test('during a model call: only that call is reported as lost and repeated', () => {
    const run = crashed.model;
    expect(run.shape).toEqual(harness.undisturbed);
    expect(kindsOf(run, 'llm_lost').map((event) => event.data['call_id'])).toEqual([`${run.id}.2`]);
    expect(count(run, (call) => call.kind === 'model')).toBe(4);
    expect(run.toolExecutions).toEqual([2, 1, 1]);
  });

  test('during a safe tool: it runs again with the same idempotency key', () => {
    const run = crashed.safe;
    expect(run.shape).toEqual(harness.undisturbed);
    expect(count(run, (call) => call.key === `${run.id}:2:0`)).toBe(2);
    expect(run.toolExecutions).toEqual([3, 1, 1]);
    expect(count(run, (call) => call.kind === 'model')).toBe(3);
  });

  test('during a tool with replay: never: the model learns that its outcome is unknown', async () => {
    const run = crashed.never;
    const result = (await contextOf(harness, run.threadId))[4]![1] as string;
    expect(JSON.parse(result)).toMatchObject({ ok: false, error: { type: 'unknown_outcome', retryable: false } });
    expect(statuses(run)).toEqual(['ok', 'unknown', 'ok', 'ok']);
    expect(run.toolExecutions).toEqual([2, 1, 1]);
    expect(run.ended).toMatchObject({ status: 'completed', result: 'All done.' });
  });

  test.each([
    ['its result is found', 'found', 1],
    ['no result is found, so it runs again', 'missing', 2],
  ] as const)('during a tool with verification: %s', (_, name, executions) => {
    const run = crashed[name];
    expect(run.shape).toEqual(harness.undisturbed);
    expect(run.toolExecutions).toEqual([2, 1, executions]);
    const verified = run.calls.filter((call) => call.kind === 'verify');
    expect(verified.map((call) => call.key)).toEqual([`${run.id}:1:2`]);
  });

  test('during a tool whose verification fails: it is not repeated, and the model learns it', () => {
    const run = crashed.unverified;
    expect(run.ended).toMatchObject({ status: 'completed', result: 'All done.' });
    expect(statuses(run)).toEqual(['ok', 'ok', 'unknown', 'ok']);
    expect(run.toolExecutions).toEqual([2, 1, 1]);
  });

  test('and its run cancelled: the next worker ends the run without another call', async () => {
    const run = crashed.cancelled;
    expect(run.ended).toMatchObject({ status: 'cancelled', terminationReason: 'cancelled' });
    expect(run.calls.every((call) => call.worker === 'child')).toBe(true);
    expect((await contextOf(harness, run.threadId)).map(([role]) => role)).toEqual([
      'system',
      'user',
      'assistant',
      'tool',
      'tool',
      'tool',
    ]);
  });

  test('and its run interrupted: the next worker ends the run without another call and executes the interrupting run', async () => {
    const run = crashed.interrupted;
    expect(run.ended).toMatchObject({ status: 'cancelled', error: { message: 'interrupted' } });
    const rescuer = await harness.startWorker(patient);
    expect(await harness.runs.wait(next!)).toMatchObject({ result: 'Instead.' });
    await rescuer.stop();
    expect((await contextOf(harness, run.threadId)).map(([role]) => role)).toEqual([
      'system',
      'user',
      'assistant',
      'tool',
      'tool',
      'tool',
      'user',
      'assistant',
    ]);
  });

  test('twice in a row: a third worker completes the run', () => {
    const run = crashed.twice;
    expect(run.shape).toEqual(harness.undisturbed);
    expect(kindsOf(run, 'llm_lost')).toHaveLength(2);
    expect(run.toolExecutions).toEqual([2, 1, 1]);
  });

  test.each(['one', 'two'] as const)(
    'after %s of three outcomes: effects are applied once, in call order',
    async (name) => {
      const run = crashed[name];
      expect(run.ended).toMatchObject({ status: 'completed', result: 'Done.' });
      const changes = (await entriesOf(harness, run.threadId)).filter((entry) => entry.kind === 'ai_state_change');
      const operations = [0, 1, 2].map((i) => ({ op: 'set', value: { last: `${i}`, [`n${i}`]: true }, call_index: i }));
      expect(changes.map((entry) => entry.payload)).toEqual([{ operations }]);
      expect((await harness.threads.get(run.threadId)).state).toEqual({ last: '2', n0: true, n1: true, n2: true });
    },
  );

  test.each([
    ['just after suspending a run: the decision alone resumes it', 'suspended'],
    ['before suspending a run: the next worker requests approval and repeats no tool', 'unsuspended'],
  ] as const)('%s', (_, name) => {
    const run = crashed[name];
    expect(run.ended).toMatchObject({ status: 'completed', result: 'Signed.' });
    expect(statuses(run)).toEqual(['ok', 'ok']);
    expect(kindsOf(run, 'approval_requested')).toHaveLength(1);
    expect(['look', 'sign'].map((tool) => count(run, isTool(tool)))).toEqual([1, 1]);
  });

  test('during an approved tool: neither the request nor the tool is repeated', () => {
    const run = crashed.approved;
    expect(run.ended).toMatchObject({ status: 'completed', result: 'Signed.' });
    expect(statuses(run)).toEqual(['ok', 'unknown']);
    expect(kindsOf(run, 'approval_requested')).toHaveLength(1);
    expect(count(run, isTool('sign'))).toBe(1);
    // it does not start again, and nothing says that it does
    const starts = kindsOf(run, 'tool_started').filter(({ data }) => data['tool_name'] === 'sign');
    expect(starts).toHaveLength(1);
  });
});
