import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isLanefoldError } from '../../src/base/errors.ts';
import { cases } from '../support/cases.ts';
import { expectClosed } from '../support/log.ts';
import { logOf, newThread, openLog, rows, type TestLog } from './helpers.ts';
import { assertInvariants } from './invariants.ts';
import { answer, asks, input, results, sqlRun } from './sql-run.ts';

let log: TestLog;
beforeAll(async () => void (log = await openLog()));
afterAll(() => log.drop());

const ids = ['r0', 'r1', 'r2'];
/** A run, mostly the active one. */
const which = fc.constantFrom('active', 'active', 'active', ...ids);
/** Mostly the right step and lease; sometimes those of a lost acknowledgement, a zombie or a confused worker. */
const off = fc.constantFrom(0, 0, 0, 0, 0, 0, -1, 1);

const command = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('enqueue' as const),
      run: fc.constantFrom(...ids),
      busy: fc.constantFrom('wait' as const, 'wait' as const, 'interrupt' as const),
      restore: fc.boolean(),
    }),
  },
  { weight: 5, arbitrary: fc.record({ do: fc.constant('claim' as const), run: which, off, past: fc.boolean() }) },
  {
    weight: 8,
    arbitrary: fc.record({ do: fc.constant('advance' as const), run: which, off, offLease: off, calls: fc.nat(2) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('record' as const),
      run: which,
      offLease: off,
      index: fc.nat(1),
      started: fc.boolean(),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('finish' as const), run: which, offLease: off, anyone: fc.boolean() }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('cancel' as const), run: which }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('suspend' as const),
      run: which,
      off,
      offLease: off,
      approvals: fc.subarray([0, 1], { minLength: 1 }),
      past: fc.boolean(),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('decide' as const),
      run: which,
      index: fc.nat(1),
      decision: fc.constantFrom('approved', 'denied'),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('expire' as const), run: which }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('input' as const), id: fc.constantFrom('i1', 'i2', 'i3') }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('operation' as const),
      id: fc.constantFrom('o1', 'o2', 'o3'),
      lane: fc.constantFrom('default', 'plan'),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('append' as const),
      lane: fc.constantFrom('default', 'plan'),
      key: fc.constantFrom('o1', 'k', undefined),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('sweep' as const) }) },
);

type Command = typeof command extends fc.Arbitrary<infer T> ? T : never;

async function carryOut(threadId: string, c: Command): Promise<unknown> {
  const active = (await log.threads.get(threadId)).activeRunId ?? 'r0';
  const run = 'run' in c ? sqlRun(log.db, threadId, c.run === 'active' ? active : c.run) : undefined;
  const row = run && ((await run.row()) as Record<string, never> | undefined);
  const lease = Number(row?.['lease'] ?? 0) + ('offLease' in c ? c.offLease : 0);
  const state = row?.['state'] as { phase?: string; round?: number } | null | undefined;
  const round = state?.round ?? 0;
  switch (c.do) {
    case 'enqueue':
      return run!.enqueue({
        busy: c.busy,
        contextRef: c.run === 'r2' ? 'plan' : 'default',
        ...(c.restore ? { options: { on_failure: 'rewind' } } : {}),
      });
    case 'claim':
      return run!.claim({
        enqueueNo: Number(row?.['enqueue_no'] ?? 0) + c.off,
        leaseMs: c.past ? -1_000 : 60_000,
        prompt: `prompt of ${c.run}`,
      });
    case 'advance': {
      const step = Number(row?.['step'] ?? 0) + c.off;
      const open =
        state?.phase === 'tools'
          ? await run!.calls().then((calls) => calls.filter((call) => call['round'] === round))
          : [];
      const body =
        open.length > 0
          ? {
              ...results(
                open.map((call) => call['tool_call_id']!),
                round,
              ),
              drain: true,
            }
          : c.calls > 0
            ? asks(['a', 'b'].slice(0, c.calls), round + 1)
            : answer('done', {
                continue: { state: { phase: 'llm', round }, iteration: 2, events: [{ k: 'llm_started', i: 2 }] },
              });
      return run!.commit(step, body, { lease });
    }
    case 'record':
      return run!.record(
        round,
        c.index,
        c.started ? { status: 'started', attempts: 1 } : { status: 'ok', attempts: 1, outcome: { content: 'x' } },
        { lease },
      );
    case 'finish':
      return run!.finish(
        { status: 'failed', reason: 'error', error: { type: 'x', message: 'y' } },
        c.anyone ? null : lease,
      );
    case 'cancel':
      return run!.cancel();
    case 'suspend': {
      const step = Number(row?.['step'] ?? 0) + c.off;
      return run!.suspend(step, { round, approvals: c.approvals, timeout_ms: c.past ? -1_000 : 60_000 }, { lease });
    }
    case 'decide':
      return run!.decide(round, c.index, c.decision);
    case 'expire':
      return run!.expire();
    case 'input':
      return input(log.db, threadId, c.id, 'hello');
    case 'operation':
      return log.contexts.replace(
        threadId,
        { entries: [{ role: 'user', content: c.id }] },
        { opId: c.id, contextRef: c.lane },
      );
    case 'append':
      return log.threads.append(
        threadId,
        [{ contextRef: c.lane, message: { role: 'user', content: 'x' } }],
        c.key ? { opId: c.key } : {},
      );
    case 'sweep':
      return rows(log.db, everyJobAgain);
  }
}

/** A sweep that finds that the queue has lost the jobs of all running runs. */
const everyJobAgain = `select s.* from lanefold.run r
  cross join lateral lanefold.queue_run_again(r.thread_id, r.id, r.enqueue_no, '{"grace_ms": 0, "prefix": "lf", "adopt_ms": 0}') s
  where r.status = 'running'`;

const begun: Command[] = [
  { do: 'enqueue', run: 'r0', busy: 'wait', restore: false },
  { do: 'claim', run: 'r0', off: 0, past: false },
];
const completed: Command[] = [...begun, { do: 'advance', run: 'r0', off: 0, offLease: 0, calls: 0 }];
const cancelled: Command[] = [
  { do: 'enqueue', run: 'r0', busy: 'wait', restore: false },
  { do: 'cancel', run: 'r0' },
];
/** Two calls that await approval: one is decided, the other expires. */
const suspended: Command[] = [
  ...begun,
  { do: 'advance', run: 'r0', off: 0, offLease: 0, calls: 2 },
  { do: 'suspend', run: 'r0', off: 0, offLease: 0, approvals: [0, 1], past: true },
  { do: 'decide', run: 'r0', index: 0, decision: 'approved' },
  { do: 'expire', run: 'r0' },
  { do: 'claim', run: 'r0', off: 0, past: false },
  { do: 'advance', run: 'r0', off: 0, offLease: 0, calls: 0 },
  { do: 'advance', run: 'r0', off: 0, offLease: 0, calls: 0 },
];
const failed: Command[] = [...begun, { do: 'finish', run: 'r0', offLease: 0, anyone: true }];

test('whatever workers, callers and sweeps do in whatever order, the invariants hold at every commit and every run can end', async () => {
  const ended: string[] = [];
  await fc.assert(
    fc.asyncProperty(fc.array(command, { minLength: 5, maxLength: 40, size: 'max' }), async (commands) => {
      const threadId = await newThread(log);
      let past = await logOf(log.db, threadId);
      for (const c of commands) {
        // a refusal is an answer; any other fault of the database is a fault of ours
        await carryOut(threadId, c).catch((error: unknown) => {
          if (!isLanefoldError(error)) throw error;
        });
        await assertInvariants(log.db);
        const now = await logOf(log.db, threadId);
        expect(now.slice(0, past.length)).toEqual(past);
        past = now;
      }
      for (const id of ids)
        await sqlRun(log.db, threadId, id)
          .finish({ status: 'failed', reason: 'error' })
          .catch(() => {});
      await assertInvariants(log.db);
      expect((await log.threads.get(threadId)).activeRunId).toBeNull();
      for (const contextRef of ['default', 'plan']) expectClosed(await log.contexts.project(threadId, { contextRef }));
      const runs = await rows<{ status: string; reason: string }>(
        log.db,
        'select status, termination_reason as reason from lanefold.run where thread_id = $1',
        threadId,
      );
      ended.push(...runs.map((run) => `${run.status}/${run.reason}`));
      // an empty database keeps the invariants cheap to ask
      await log.threads.erase(threadId);
    }),
    // chance alone might complete no run, or cancel none
    { numRuns: cases(5), examples: [[completed], [cancelled], [suspended], [failed]] },
  );
  expect(new Set(ended)).toEqual(new Set(['completed/final_answer', 'failed/error', 'cancelled/cancelled']));
});
