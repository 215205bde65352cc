import { dispatchAll } from '../queue/dispatch.ts';
import type { RunHandle } from '../store/run/run.ts';
import { store, type AcceptedBy } from './accept.ts';
import { enqueue, toRequest, type EnqueueDeps, type EnqueueOptions } from './enqueue.ts';

/** Accepts runs together, and answers each of them. See `Runs.enqueueMany`. */
export async function enqueueMany(
  deps: EnqueueDeps,
  requests: readonly EnqueueOptions[],
  check: (request: EnqueueOptions) => void,
  by: AcceptedBy,
): Promise<PromiseSettledResult<RunHandle>[]> {
  if (by.tx) return inTurn(deps, requests, check, by);
  const checked = await Promise.allSettled(
    requests.map(async (request) => {
      check(request);
      return toRequest(deps, request);
    }),
  );
  // what is written at the same moment shares a statement: see `callFunction`
  const stored = await Promise.allSettled(
    checked.map(async (request) => {
      if (request.status === 'rejected') throw request.reason;
      return store(deps, request.value, by);
    }),
  );
  const jobs = stored.flatMap((one) => (one.status === 'fulfilled' ? (one.value.job ?? []) : []));
  await dispatchAll(deps.db, deps.queue, jobs, 'back');
  return stored.map((one) => (one.status === 'fulfilled' ? { ...one, value: one.value.run } : one));
}

/** In a transaction of the caller, whose connection takes one statement after the other. */
async function inTurn(
  deps: EnqueueDeps,
  requests: readonly EnqueueOptions[],
  check: (request: EnqueueOptions) => void,
  by: AcceptedBy,
): Promise<PromiseSettledResult<RunHandle>[]> {
  const answers: PromiseSettledResult<RunHandle>[] = [];
  for (const request of requests) {
    const one = async () => {
      check(request);
      return enqueue(deps, request, by);
    };
    answers.push(...(await Promise.allSettled([one()])));
  }
  return answers;
}
