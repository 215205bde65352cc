import type { EnqueueDeps, EnqueueOptions } from './enqueue-options.ts';
import { refuseUnknownKeys } from '../../../base/checks/unknown-keys.ts';
import { checked } from '../../../base/operations/checked.ts';
import { LanefoldError } from '../../../base/errors.ts';
import type { Logger } from '../../../base/log/logger.ts';
import type { RunHandle } from '../../../database/store/run/run.ts';
import { decideCall } from './approvals.ts';
import { cancel } from './cancel.ts';
import { type CheckpointDeps, collectRun, mintToken, resume } from './checkpoints.ts';
import { runs } from './declaration.ts';
import { enqueueMany } from './enqueue-many.ts';
import { enqueue } from './enqueue.ts';
import { sendInput } from './inputs.ts';
import { manyRuns } from './many.ts';
import { type ReadingDeps, readingRuns } from './read-runs.ts';
import { rerun, retry } from './repeat.ts';
import type { EnqueuedBy, Runs } from './runs.ts';
import { waitingForRuns } from './wait-for-run.ts';
import type { RunWaiter } from './waiter.ts';

export interface RunsDeps extends EnqueueDeps, ReadingDeps {
  waiter: RunWaiter;
  log: Logger;
  tokenSecrets: readonly string[];
}

/** The runs of a library: each operation checks what it is given, then acts through the store and the queue. */
export function runsOf(deps: RunsDeps): Runs {
  const reading = readingRuns(deps);
  const wait = waitingForRuns(deps);
  const points: CheckpointDeps = { ...deps, get: reading.get, wait };
  return checked(runs, {
    ...reading,
    ...acceptingRuns(deps),
    ...manyRuns({ ...deps, ...points }),
    wait,
    steer: (run, content, options) => sendInput(deps.db, 'steer', run, content, options),
    inject: (run, content, options) => sendInput(deps.db, 'inject', run, content, options),
    approve: (run, call, options) => decideCall(deps, run, call, 'approved', options),
    deny: (run, call, options) => decideCall(deps, run, call, 'denied', options),
    cancel: (target, reason) => cancel(points, target, reason),
    checkpoint: (run, options) => mintToken(points, run, options),
    resume: (token, options) => resume(points, token, options),
    collect: (token, options) => collectRun(points, token, options),
  });
}

type Accepting = Pick<Runs, 'enqueue' | 'enqueueMany' | 'retry' | 'rerun'>;

function acceptingRuns(deps: EnqueueDeps & { waiter: RunWaiter }): Accepting {
  return {
    async enqueue<Strategy extends string>(options: EnqueueOptions<Strategy>, by: EnqueuedBy = {}) {
      const handle = await enqueue(deps, options, contextOf('runs.enqueue', by));
      return deps.waiter.accepted(handle) as RunHandle<never>;
    },
    async enqueueMany(requests: readonly EnqueueOptions[], by: EnqueuedBy = {}) {
      const context = contextOf('runs.enqueueMany', by);
      if (!Array.isArray(requests)) {
        throw new LanefoldError('invalid_input', 'The requests are not a list.', {
          hint: 'Pass [{ agent, input }, …].',
        });
      }
      const accepted = await enqueueMany(deps, requests, assertObject, context);
      for (const one of accepted) if (one.status === 'fulfilled') deps.waiter.accepted(one.value);
      return accepted as PromiseSettledResult<RunHandle<never>>[];
    },
    retry: (run, options) => retry(deps, run, options),
    rerun: (run, options) => rerun(deps, run, options),
  };
}

function contextOf(what: string, by: EnqueuedBy) {
  refuseUnknownKeys(what, by, { tx: true, from: true, caller: true });
  const { tx, from = 'library', caller } = by;
  return { tx, caller, from };
}

function assertObject(request: EnqueueOptions): void {
  if (typeof request === 'object' && request !== null) return;
  throw new LanefoldError('invalid_input', 'The request is not an object.', { hint: 'Pass { agent, input }.' });
}
