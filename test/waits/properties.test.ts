// @module-tag slow
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isLanefoldError } from '../../src/base/errors.ts';
import { newThread, openLog, rows, value, type TestLog } from '../db/helpers.ts';
import { assertInvariants } from '../db/invariants.ts';
import { answer, asks, results, sqlRun, type Receipt } from '../db/sql-run.ts';
import { cases } from '../support/cases.ts';

let log: TestLog;
beforeAll(async () => void (log = await openLog({ connections: 6 })));
afterAll(() => log.drop());

const most = 4;
/** The calls of the round: `late` is past its time from the start; runs may be those that an earlier call has started. */
const call = fc.record({
  kind: fc.constantFrom('event' as const, 'time' as const, 'run' as const, 'approval' as const),
  late: fc.boolean(),
  /** Which child it waits for; several calls may wait for one. */
  child: fc.nat(1),
});
type Call = typeof call extends fc.Arbitrary<infer T> ? T : never;

const index = fc.nat(most - 1);
const act = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant('suspend' as const) }) },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('end' as const),
      index,
      status: fc.constantFrom('resolved' as const, 'overridden' as const),
    }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('child' as const), child: fc.nat(1) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('decide' as const), index, approved: fc.boolean() }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('expire' as const) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('started' as const), index }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('cancel' as const) }) },
);
type Act = typeof act extends fc.Arbitrary<infer T> ? T : never;

interface WaitRow {
  index: number;
  status: string;
  task: string | null;
  childEnded: boolean;
  starts: boolean;
  ledger: string;
  result: string | null;
  decision: string | null;
  until: string | null;
}

/** A run with a round of calls that wait, of which nobody has ended one yet. */
async function startRun(calls: Call[], lateApprovals: boolean) {
  const threadId = await newThread(log);
  const run = sqlRun(log.db, threadId, 'run');
  await run.enqueue();
  await run.claim();
  const ids = calls.map((_, i) => `c${i}`);
  await run.commit(0, asks(ids));
  const childOf = (n: number) => ({ thread_id: `${threadId}-child-${n}`, run_id: `child-${n}`, agent: 'agent' });
  for (const [i, { kind, late, child }] of calls.entries()) {
    if (kind === 'approval') continue;
    const first = calls.findIndex((other) => other.kind === 'run' && other.child === child) === i;
    await run.record(1, i, {
      status: 'waiting',
      attempts: 1,
      wait: {
        kind,
        ...(kind === 'event' ? { event: `event-${i}` } : {}),
        ...(late || kind === 'time' ? { timeout_ms: late ? -1_000 : 600_000 } : {}),
        ...(kind === 'run' ? { child: childOf(child), ...(first ? { request: { agent: 'agent' } } : {}) } : {}),
      },
    });
  }
  const approvals = calls.flatMap(({ kind }, i) => (kind === 'approval' ? [i] : []));
  const perform = (what: Act, tag: string): Promise<Receipt | boolean | null> => {
    switch (what.do) {
      case 'suspend':
        return run.suspend(1, { round: 1, approvals, timeout_ms: lateApprovals ? -1_000 : 600_000 });
      case 'end':
        return value(log.db, 'select lanefold.end_wait($1, $2, 1, $3, $4)', threadId, 'run', what.index, {
          status: what.status,
          outcome: { status: 'ok', content: tag },
          by: tag,
          queue_prefix: 'lf',
        });
      case 'child':
        return value(log.db, 'select lanefold.end_child($1, $2)', threadId, {
          child_run_id: `child-${what.child}`,
          outcome: { status: 'ok', content: tag },
          queue_prefix: 'lf',
        });
      case 'decide':
        return run.decide(1, what.index, what.approved ? 'approved' : 'denied', { by: tag, queue_prefix: 'lf' });
      case 'expire':
        return value(log.db, 'select lanefold.expire_waits($1, $2, $3)', threadId, 'run', 'lf');
      case 'started':
        return value(log.db, 'select lanefold.end_wait_task($1, $2, 1, $3, $4)', threadId, 'run', what.index, 'start');
      case 'cancel':
        return run.cancel();
    }
  };
  const waits = () =>
    rows<WaitRow & Receipt>(
      log.db,
      `select w.call_index as index, w.status, w.task, w.child_ended_at is not null as "childEnded", w.request is not null as starts, c.status as ledger,
         c.result, c.approval ->> 'decision' as decision, w.until::text
       from lanefold._wait w join lanefold.run_tool_call c
         on c.thread_id = w.thread_id and c.run_id = w.run_id and c.round = w.round and c.call_index = w.call_index
       where w.thread_id = $1 and w.run_id = 'run' order by w.call_index`,
      threadId,
    );
  return { threadId, run, ids, approvals, perform, waits };
}

/** The jobs that an answer asks its caller to add. */
function jobsOf(what: Act, given: Receipt | boolean | null): Receipt[] {
  if (!given || typeof given === 'boolean') return [];
  if (what.do === 'child') return given as unknown as Receipt[];
  if (what.do === 'expire') return [given];
  return given['job'] ? [given['job'] as Receipt] : [];
}

test('whatever ends waits in whatever order, also at once: the first end counts, and the last one queues the run once', async () => {
  const seen = new Set<string>();
  await fc.assert(
    fc.asyncProperty(
      fc.array(call, { minLength: 1, maxLength: most }),
      fc.boolean(),
      // those of one group happen at once
      fc.array(fc.array(act, { minLength: 1, maxLength: 3 }), { maxLength: 8 }),
      async (calls, lateApprovals, groups) => {
        const { threadId, run, ids, approvals, perform, waits } = await startRun(calls, lateApprovals);
        const known = new Map<number, WaitRow>();
        let jobs = 0;
        let tags = 0;
        let cancelled = false;
        // then the worker, if it has not, and everything that may end a wait
        const rest: Act[][] = [
          [{ do: 'suspend' }],
          ...calls.map(({ kind }, i): Act[] => [
            kind === 'approval'
              ? { do: 'decide', index: i, approved: true }
              : { do: 'end', index: i, status: 'resolved' },
          ]),
        ];
        for (const group of [...groups, ...rest]) {
          const before = (await run.row())['status'] as string;
          const openBefore = new Set((await waits()).filter(({ status }) => status === 'open').map((row) => row.index));
          const acts = group
            .filter((what) => !('index' in what) || what.index < calls.length)
            .map((what) => ({ what, tag: `act ${(tags += 1)}` }));
          const given = await Promise.all(
            acts.map(async ({ what, tag }) => ({
              what,
              tag,
              // a refusal is an answer; any other fault of the database is a fault of ours
              answer: await perform(what, tag).catch((error: unknown) => {
                if (!isLanefoldError(error)) throw error;
                return null;
              }),
            })),
          );
          jobs += given.flatMap(({ what, answer }) => jobsOf(what, answer)).length;
          cancelled ||= acts.some(({ what }) => what.do === 'cancel');

          const now = await waits();
          const { status, enqueue_no: enqueueNo, suspended_until: until } = await run.row();
          const open = now.filter((row) => row.status === 'open');
          // queued once, when the last wait has ended, and never while one is open
          expect(jobs).toBeLessThanOrEqual(1);
          expect(enqueueNo).toBe(1 + jobs);
          if (status === 'suspended') expect(open.length).toBeGreaterThan(0);
          else if (status !== 'running') expect(open).toEqual([]);
          if (status === 'queued') expect(jobs).toBe(1);
          if (status === 'suspended' || status === 'running') expect(jobs).toBe(0);
          if (status === 'suspended') {
            const times = open.flatMap((row) => row.until ?? []).sort();
            expect(until === Infinity ? undefined : (until as Date).getTime()).toBe(
              times[0] === undefined ? undefined : new Date(times[0]).getTime(),
            );
          }

          for (const row of now) {
            const { kind, child } = calls[row.index]!;
            const earlier = known.get(row.index);
            const winners = given.filter(
              ({ what, answer }) =>
                (what.do === 'end' && what.index === row.index && (answer as Receipt | null)?.['ended'] === true) ||
                (what.do === 'decide' &&
                  what.index === row.index &&
                  (answer as Receipt | null)?.['duplicate'] === false),
            );
            if (earlier && earlier.status !== 'open') {
              // the first end counts
              expect(winners).toEqual([]);
              expect(row.status).toBe(earlier.status);
              if (earlier.result !== null) expect(row.result).toBe(earlier.result);
            } else if (row.status !== 'open') {
              expect(winners.length).toBeLessThanOrEqual(1);
              const told = given.filter(({ what }) => what.do === 'child' && what.child === child && kind === 'run');
              if (winners[0]?.what.do === 'end') {
                expect(row).toMatchObject({ status: winners[0].what.status, result: winners[0].tag });
              } else if (winners[0]?.what.do === 'decide') {
                expect(row.decision).toBe(winners[0].what.approved ? 'approved' : 'denied');
              } else if (row.status === 'resolved') {
                expect(told.map(({ tag }) => tag)).toContain(row.result);
              } else if (row.status === 'expired') {
                expect(acts.map(({ what }) => what.do)).toContain('expire');
                // the expiry of an approval is a decision
                if (kind === 'approval') expect(row.decision).toBe('denied');
                expect(row.result).toContain({ time: 'waited_until', approval: 'denied' }[kind as string] ?? 'timeout');
              } else {
                expect(row.status).toBe('abandoned');
                expect(cancelled).toBe(true);
              }
              seen.add(`${kind} ${row.status}`);
            } else {
              // nothing that was done ends this wait
              const ends = acts.filter(
                ({ what }) =>
                  (what.do === 'end' && what.index === row.index && kind !== 'approval') ||
                  (what.do === 'child' && what.child === child && kind === 'run') ||
                  (what.do === 'decide' &&
                    what.index === row.index &&
                    kind === 'approval' &&
                    openBefore.has(row.index)) ||
                  (what.do === 'cancel' && before === 'suspended') ||
                  (what.do === 'expire' && acts.length === 1 && before === 'suspended' && isLate(row)),
              );
              expect(ends).toEqual([]);
            }
            // the worker learns whether it may leave the run it has started
            const started = given.filter(
              ({ what, answer }) => what.do === 'started' && what.index === row.index && answer === true,
            );
            expect(started.length).toBeLessThanOrEqual(earlier && earlier.task !== 'start' ? 0 : 1);
            // the run is cancelled by the call that started it, not by one that merely waited for it
            if (kind === 'run' && row.status !== 'open' && !onlyResolved(row))
              expect(row.task).toBe(row.childEnded || !row.starts ? null : 'cancel');
            known.set(row.index, row);
          }
        }
        await assertInvariants(log.db);

        const { status, enqueue_no: enqueueNo } = await run.row();
        if (status === 'queued') {
          expect(await run.claim({ enqueueNo: enqueueNo as number })).toMatchObject({ claimed: true, lease: 2 });
          const ledger = await run.calls();
          expect(ledger.map((row) => row['result'])).toEqual(
            ids.map((_, i) => (approvals.includes(i) ? ledger[i]!['result'] : known.get(i)!.result)),
          );
          await run.commit(2, results(ids), { lease: 2 });
          await run.commit(3, answer('done'), { lease: 2 });
          expect(await run.row()).toMatchObject({ status: 'completed' });
        } else {
          expect(cancelled).toBe(true);
          if (status === 'running') await run.finish({ status: 'cancelled', reason: 'cancelled' });
          expect((await run.row())['status']).toBe('cancelled');
        }
        expect((await waits()).filter((row) => row.status === 'open')).toEqual([]);
        await assertInvariants(log.db);
        // an empty database keeps the invariants cheap to ask
        await log.threads.erase(threadId);
        const left = await rows<{ round: number; call_index: number; task: string; request: object | null }>(
          log.db,
          'select round, call_index, task, request from lanefold._wait where thread_id = $1',
          threadId,
        );
        expect(left.filter(({ task, request }) => task !== 'cancel' || request !== null)).toEqual([]);
        for (const { round, call_index: index } of left)
          await rows(
            log.db,
            'select lanefold.end_wait_task($1, $2, $3, $4, $5)',
            threadId,
            'run',
            round,
            index,
            'cancel',
          );
        expect(
          await rows(log.db, 'select from lanefold._wait where thread_id = $1', threadId),
          'an erased thread has no waits once its runs are cancelled',
        ).toEqual([]);
      },
    ),
    { numRuns: cases(10), examples: examples() },
  );
  // chance alone might try few of them
  for (const end of [
    'event resolved',
    'event overridden',
    'event expired',
    'time expired',
    'run resolved',
    'run expired',
  ])
    expect(seen).toContain(end);
  for (const end of ['run overridden', 'run abandoned', 'approval resolved', 'event abandoned'])
    expect(seen).toContain(end);
});

const isLate = (row: WaitRow): boolean => row.until !== null && Date.parse(row.until) < Date.now() - 500;
/** The end of a run that was not there to be started, or of a mere wait for it, leaves nothing to cancel. */
const onlyResolved = (row: WaitRow): boolean => row.status === 'resolved';

function examples(): [Call[], boolean, Act[][]][] {
  const late: Call[] = [
    { kind: 'event', late: true, child: 0 },
    { kind: 'time', late: true, child: 0 },
    { kind: 'run', late: true, child: 0 },
  ];
  const patient: Call[] = [
    { kind: 'event', late: false, child: 0 },
    { kind: 'run', late: false, child: 0 },
    { kind: 'run', late: false, child: 0 },
    { kind: 'approval', late: false, child: 0 },
  ];
  const resolve = (index: number): Act => ({ do: 'end', index, status: 'overridden' });
  const answered: Act[] = [
    { do: 'end', index: 0, status: 'resolved' },
    { do: 'decide', index: 3, approved: true },
  ];
  return [
    [late, false, [[{ do: 'suspend' }], [{ do: 'expire' }]]],
    [patient, false, [[{ do: 'suspend' }], answered, [{ do: 'child', child: 0 }]]],
    [late, false, [[{ do: 'suspend' }, { do: 'expire' }, resolve(0)], [{ do: 'expire' }]]],
    [patient, true, [[{ do: 'suspend' }], [resolve(0), resolve(1)], [{ do: 'child', child: 0 }], [{ do: 'expire' }]]],
    [patient, false, [[{ do: 'suspend' }], [{ do: 'cancel' }], [{ do: 'child', child: 0 }]]],
    [patient, false, [[{ do: 'started', index: 1 }], [{ do: 'suspend' }], [resolve(1), resolve(1), resolve(0)]]],
  ];
}
