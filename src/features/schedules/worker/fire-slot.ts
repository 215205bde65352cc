import { isLanefoldError } from '../../../base/errors.ts';
import type { Database } from '../../../database/postgres/pool.ts';
import { isTransient } from '../../../database/postgres/errors.ts';
import { fromStored } from '../definition/stored.ts';
import { fillIn } from '../definition/template.ts';
import { unlessGone } from '../../../database/store/missing.ts';
import type { RunRef } from '../../../database/store/run/run.ts';
import { runsEnded, type RunKey } from '../../../database/store/run/runs-ended.ts';
import { findRequested, unendedBefore, settleSlot, takeSlot, type OpenSlot, type TakenSlot } from '../store/slots.ts';
import { idsOf } from '../../../database/store/tenant/tenant-settings.ts';
import type { FireDependencies, ScheduledRequest } from './dependencies.ts';

/** After this, another worker starts the run of a slot that was taken, in ms. */
export const againMs = 10_000;
/** How many slots back a slot looks for runs to interrupt. */
const mostInterrupted = 100;

/**
 * Takes a slot and starts its run. `waits`: for an earlier run. `taken`: by another worker, or until a lasting failure ends.
 * After `settled`, the schedule may have another slot for this look.
 */
export async function fireSlot(deps: FireDependencies, open: OpenSlot): Promise<'settled' | 'waits' | 'taken'> {
  const { db, agents } = deps;
  const run = runBefore(open);
  const active = run !== undefined && (await runsEnded(db, [run])).length === 0;
  const taken = await takeSlot(db, open, { agents, active, againMs });
  if (!taken) return 'taken';
  if ('waits' in taken) {
    for (let n = taken.passed; n > 0; n--) deps.onSettled('skipped');
    return taken.passed > 0 ? 'settled' : 'waits';
  }
  if ('skipped' in taken) {
    deps.onSettled('skipped');
    return 'settled';
  }
  return (await start(deps, open, taken)) ? 'settled' : 'taken';
}

/** The run of the slot before it. */
export const runBefore = ({ before }: OpenSlot): RunKey | undefined =>
  before && { threadId: before.thread_id, runId: before.run_id };

/**
 * Starts the run of a slot, under a request id made of schedule and slot: should this worker die before it settles the
 * slot, the next one repeats the request, and gets this run. A request that is refused fails the slot, unless it was
 * accepted before: agents and limits may have changed since. Returns false if the slot is to be taken again.
 */
async function start(
  { db, requests, onError, onSettled }: FireDependencies,
  open: OpenSlot,
  taken: TakenSlot,
): Promise<boolean> {
  const { tenant_id: tenant } = open;
  const fired = async (run: RunRef): Promise<void> => {
    await settleSlot(db, open, taken, { status: 'fired', thread_id: run.threadId, run_id: run.id });
    onSettled('fired');
  };
  try {
    const run = await requests.enqueue(tenant, await requestOf(db, open, taken));
    // afterwards: a request that is refused interrupts nothing
    if (taken.request.interrupts)
      for (const earlier of await unendedBefore(db, open, mostInterrupted))
        await requests.interrupt(tenant, earlier).catch(unlessGone);
    await fired(run);
    return true;
  } catch (error) {
    onError(error);
    if (isTransient(error) || (isLanefoldError(error) && error.status >= 500)) return false;
    const { threadId, requestId } = await requestOf(db, open, taken);
    const accepted = await findRequested(db, tenant, threadId, requestId);
    if (accepted) {
      await fired(accepted);
      return true;
    }
    const { code, message } = isLanefoldError(error) ? error : { code: 'internal', message: String(error) };
    await settleSlot(db, open, taken, { status: 'failed', error: { code, message } });
    onSettled('failed');
    return true;
  }
}

async function requestOf(db: Database, open: OpenSlot, { request }: TakenSlot): Promise<ScheduledRequest> {
  const { name, slot, tenant_id: tenant } = open;
  const { agent, input, threadId, options, timeZone = 'UTC' } = fromStored(request);
  const at = new Date(slot);
  const times = { slot: at, previous: new Date(request.previous ?? slot), timeZone };
  const requestId = `schedule:${name}:${at.toISOString()}`;
  return {
    ...options,
    agent,
    input: mapTexts(input, (text) => fillIn(text, times)),
    requestId,
    threadId: threadId ?? (await idsOf(db, tenant)).own(requestId).threadId,
    createThread: true,
    busy: 'wait',
  };
}

type Input = ScheduledRequest['input'];

const mapTexts = (input: Input, map: (text: string) => string): Input =>
  typeof input === 'string'
    ? map(input)
    : input.map((part) =>
        part.type === 'text' && typeof part.text === 'string' ? { ...part, text: map(part.text) } : part,
      );
