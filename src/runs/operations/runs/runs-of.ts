import type { FindUnattended, UnattendedRuns } from '../../fleet/unattended.ts';
import { LanefoldError } from '../../../base/errors.ts';
import { assertId, assertRef } from '../../../base/checks/ids.ts';
import { rejecting } from '../../../base/common/promises.ts';
import { assertWait } from '../../../base/checks/whole-number.ts';
import type { Database } from '../../../database/postgres/pool.ts';
import { briefly, dispatch } from '../../queue/dispatch.ts';
import { type Logger, seldom } from '../../../base/log/logger.ts';
import type { RunQueue } from '../../queue/queue.ts';
import { readInputs } from '../../../database/store/input/read-inputs.ts';
import { runNotFound } from '../../../database/store/missing.ts';
import { cancelRun } from '../../../database/store/run/cancel-run.ts';
import { readNodes } from '../../../database/store/run/read-nodes.ts';
import { listRuns } from '../../../database/store/run/list-runs.ts';
import type { Run, RunHandle, RunRef } from '../../../database/store/run/run.ts';
import { readRunEvents } from '../../../database/store/trace/read-events.ts';
import type { Streams } from '../../streams/open.ts';
import { assertStorable } from '../../../base/checks/text.ts';
import { decideCall } from './approvals.ts';
import { priced } from './cost.ts';
import { collectRun, mintToken, openToken, resume } from './checkpoints.ts';
import { enqueue, type EnqueueDeps, type EnqueueOptions } from './enqueue.ts';
import { enqueueMany } from './enqueue-many.ts';
import { rerun, retry } from './repeat.ts';
import { sendInput } from './inputs.ts';
import { treeOf } from './tree.ts';
import { readSnapshot, type RunSnapshot } from './run-snapshot.ts';
import type { RunWaiter } from './waiter.ts';
import { countUnfinished, ranOnly } from '../../../database/store/run/count-runs.ts';
import { findDelayedJob } from '../../../database/store/run/find-jobs.ts';
import type { EnqueuedBy, Runs, WaitOptions } from './runs.ts';
import { deadline } from '../../../base/common/timer.ts';

export interface RunsDeps extends EnqueueDeps {
  waiter: RunWaiter;
  findUnattended: FindUnattended;
  log: Logger;
  streams: Pick<Streams, 'follow' | 'openTree'>;
  tokenSecrets: readonly string[];
}

/** The runs of a library: each operation checks what it is given, then acts through the store and the queue. */
export function runsOf(deps: RunsDeps): Runs {
  const { db, queue, waiter, streams } = deps;
  const isDue = seldom();
  const logUnattended = ({ threadId, runId, agent, reason, message }: UnattendedRuns) => {
    // thousands of runs may wait for the same agent
    if (!isDue(`${reason} ${agent}`)) return;
    // an error, like the line of a worker that lacks the agent: the run waits until a suitable worker is started
    deps.log.error({ component: 'runs', thread_id: threadId, run_id: runId, agent, reason }, message);
  };
  const get = async (run: RunRef): Promise<RunSnapshot<never>> => {
    assertRef(run);
    const found = await readSnapshot(deps, run.threadId, run.id);
    if (!found) throw runNotFound(run.threadId, run.id);
    return found as RunSnapshot<never>;
  };
  const wait = async (
    run: RunRef,
    { timeoutMs, signal, onUnattended = logUnattended }: WaitOptions = {},
  ): Promise<Run<never>> => {
    assertRef(run);
    assertWait(timeoutMs, 'timeoutMs');
    const timeout = timeoutMs === undefined ? undefined : deadline(timeoutMs);
    const signals = [timeout?.signal, signal].filter((s) => s !== undefined);
    const key = { threadId: run.threadId, runId: run.id };
    let ended: Run | undefined;
    try {
      ended = await waiter.ended(key, onUnattended, signals.length > 0 ? AbortSignal.any(signals) : undefined);
    } catch (error) {
      if (!timeout?.signal.aborted) throw error;
      throw new LanefoldError('wait_timeout', `Run ${run.id} did not end within ${timeoutMs} ms.`, {
        hint: 'The run continues; wait again or read it later.',
      });
    } finally {
      timeout?.cancel();
    }
    if (!ended) throw runNotFound(run.threadId, run.id);
    return ended as Run<never>;
  };
  const points = { ...deps, get, wait };
  return {
    async enqueue<Strategy extends string>(
      options: EnqueueOptions<Strategy>,
      { tx, from = 'library', caller }: EnqueuedBy = {},
    ) {
      return enqueue(deps, options, { tx, caller, from }) as Promise<RunHandle<never>>;
    },
    async enqueueMany(requests: readonly EnqueueOptions[], { tx, from = 'library', caller }: EnqueuedBy = {}) {
      if (!Array.isArray(requests)) {
        throw new LanefoldError('invalid_input', 'The requests are not a list.', {
          hint: 'Pass [{ agent, input }, …].',
        });
      }
      const check = (request: EnqueueOptions) => {
        if (typeof request !== 'object' || request === null) {
          throw new LanefoldError('invalid_input', 'The request is not an object.', { hint: 'Pass { agent, input }.' });
        }
      };
      return (await enqueueMany(deps, requests, check, { tx, caller, from })) as PromiseSettledResult<
        RunHandle<never>
      >[];
    },
    get,
    wait,
    async retry(run, options, { caller } = {}) {
      assertRef(run);
      return (await retry(deps, run, options, caller)) as RunHandle<never>;
    },
    async rerun(run, options = {}, { caller, from = 'library' } = {}) {
      assertRef(run);
      return (await rerun(deps, run, options, { caller, from })) as RunHandle<never>;
    },
    unfinished: (of) => countUnfinished(db, of),
    ranOnly: (threadId, agents) => ranOnly(db, threadId, agents),
    async list({ limit = 50, ...filter } = {}) {
      if (filter.threadId !== undefined) assertId(filter.threadId, 'The thread id');
      assertStorable(filter, 'The filter');
      const { data, nextAfter } = await listRuns(db.reader, { ...filter, limit });
      return { data: await Promise.all(data.map((run) => priced(deps.counting, run))), nextAfter };
    },
    async events(run, { after = -1, limit = 100 } = {}) {
      assertRef(run);
      return readRunEvents(db, run.threadId, run.id, after, limit);
    },
    async *stream(run, options) {
      assertRef(run);
      yield* rejecting(streams.follow(run.threadId, run.id, options), options?.signal);
    },
    async *streamTree(run, options) {
      assertRef(run);
      yield* rejecting((await streams.openTree(run, options)).items, options?.signal);
    },
    steer: (threadId, content, options) => sendInput(db, 'steer', threadId, content, options),
    inject: (threadId, content, options) => sendInput(db, 'inject', threadId, content, options),
    approve: (run, call, options) => decideCall(deps, run, call, 'approved', options),
    deny: (run, call, options) => decideCall(deps, run, call, 'denied', options),
    async nodes(run, { after = 0, limit = 1_000 } = {}) {
      assertRef(run);
      return readNodes(db, run.threadId, run.id, { after, limit });
    },
    async tree(run) {
      assertRef(run);
      return treeOf(deps, run);
    },
    async inputs(run, { after = 0, limit = 100 } = {}) {
      assertRef(run);
      return readInputs(db, run.threadId, run.id, { after, limit });
    },
    async cancel(target, reason = 'user_cancelled') {
      const run = typeof target === 'string' ? toRef(openToken(points, target)) : target;
      assertRef(run);
      assertStorable(reason, 'The reason');
      const { status, accepted, promoted } = await cancelRun(db, run.threadId, run.id, reason);
      if (promoted) await briefly(dispatch(db, queue, promoted));
      // a job that stays in the queue is harmless: the worker that takes it finds that the run has ended
      if (accepted && status === 'cancelled') {
        await dropDelayedJob(db, queue, run).catch(() => {});
        await deps.admission?.release(deps.db, { threadId: run.threadId, runId: run.id });
      }
      return { status, accepted };
    },
    checkpoint: (run, options) => mintToken(points, run, options),
    resume: (token, options, on) => resume(points, token, options, on),
    collect: (token, options) => collectRun(points, token, options),
  };
}

/** A delayed job would otherwise stay in the queue until its delay is over. */
async function dropDelayedJob(db: Database, queue: RunQueue, run: RunRef): Promise<void> {
  const job = await findDelayedJob(db, run.threadId, run.id, queue.prefix);
  if (job) await queue.remove([job]);
}

const toRef = ({ threadId, runId }: { threadId: string; runId: string }): RunRef => ({ threadId, id: runId });
