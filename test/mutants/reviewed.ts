import type { Mutant } from './mutants.ts';

/** Mistakes that a review made on purpose, and that no test noticed then. */
export const reviewed: Mutant[] = [
  {
    name: 'a limit forgets what a call has used',
    sql: {
      _settle_limit: [
        ['case when p_lost then greatest(p_used - p_reserved, 0) else p_used - p_reserved end', '-p_reserved'],
        ['k.total := k.total + p_used;', ''],
      ],
    },
    caughtBy: {
      file: 'test/limits/used.test.ts',
      test: 'what a run used of a limit counts from the end of each call, and not only from the end of the run',
    },
  },
  {
    name: 'a call that has ended is settled without its usage',
    source: { 'src/worker/run/reserve-call.ts': [['  reserved?.end({', '  reserved?.end(undefined && {']] },
    caughtBy: {
      file: 'test/limits/used.test.ts',
      test: 'what a run used of a limit counts from the end of each call, and not only from the end of the run',
    },
  },
  {
    name: 'a schedule moves, whoever has moved or changed it meanwhile',
    sql: {
      advance_schedule: [
        [' and version = p_version and next_at is not distinct from p_from and paused_at is null', ''],
      ],
    },
    caughtBy: {
      file: 'test/schedules/overtaken.test.ts',
      test: 'a schedule is moved only by a worker that has read it as it is once',
    },
  },
  {
    name: 'an append under a known key with another body is answered',
    sql: { _known_receipt: [['if r.hash <> p_hash then', 'if false then']] },
    caughtBy: { file: 'test/db/append.test.ts', test: 'idempotency key another body under the same key is refused' },
  },
  {
    name: 'a worker starts a call past its deadline',
    source: { 'src/worker/run/held-run.ts': [['if (performance.now() < this.#deadline) return;', 'return;']] },
    caughtBy: {
      file: 'test/runtime/worker/deadline.test.ts',
      test: 'a worker that was frozen beyond its lease calls no model, and the run is claimed again',
    },
  },
  {
    name: 'the end of a run leaves its waits open',
    sql: { _leave_waits: [["set status = 'abandoned', ended_at = p_at, task = null", 'set task = task']] },
    caughtBy: {
      file: 'test/waits/events.test.ts',
      test: 'waiting for events and times a cancelled run leaves its waits; later events find none',
    },
  },
];
