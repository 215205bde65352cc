import type { EnqueueDeps, EnqueueOptions } from './enqueue-options.ts';
import { briefly, dispatchAll } from '../../queue/relay.ts';
import type { RunHandle } from '../../../database/store/run/run.ts';
import { storeRequest, type EnqueueContext } from './enqueue-request.ts';
import { enqueue } from './enqueue.ts';
import { toRequest } from './to-request.ts';

/** Accepts many runs together, each with a separate outcome. See `Runs.enqueueMany`. */
export async function enqueueMany(
  deps: EnqueueDeps,
  requests: readonly EnqueueOptions[],
  check: (request: EnqueueOptions) => void,
  by: EnqueueContext,
): Promise<PromiseSettledResult<RunHandle>[]> {
  if (by.tx) return inTurn(deps, requests, check, by);
  const checked = await Promise.allSettled(
    requests.map(async (request) => {
      check(request);
      return toRequest(deps, request, by);
    }),
  );
  // Writes made at the same moment share a statement (see `callFunction`), and statements may overtake each other:
  // requests of one thread wait for each other to keep their order.
  const lastOf = new Map<string, Promise<unknown>>();
  const stored = await Promise.allSettled(
    checked.map(async (request) => {
      if (request.status === 'rejected') throw request.reason;
      const { threadId } = request.value;
      const before = lastOf.get(threadId);
      const mine = after(before, () => storeRequest(deps, request.value, by));
      lastOf.set(threadId, mine);
      return mine;
    }),
  );
  const jobs = stored.flatMap((one) => (one.status === 'fulfilled' ? (one.value.job ?? []) : []));
  await briefly(dispatchAll(deps.db, deps.queue, jobs, 'back'), jobs.length);
  return stored.map((one) => (one.status === 'fulfilled' ? { ...one, value: one.value.run } : one));
}

/** Calls `act` once `before` has settled, whether it succeeded or failed. */
async function after<T>(before: Promise<unknown> | undefined, act: () => Promise<T>): Promise<T> {
  if (before) await Promise.allSettled([before]);
  return act();
}

/** One by one, in a transaction of the caller: its connection takes one statement at a time. */
async function inTurn(
  deps: EnqueueDeps,
  requests: readonly EnqueueOptions[],
  check: (request: EnqueueOptions) => void,
  by: EnqueueContext,
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
