import { callName } from '../../../base/checks/call-name.ts';
import pLimit from 'p-limit';
import { assertId } from '../../../base/checks/ids.ts';
import { assertStorable } from '../../../base/checks/values.ts';
import type { Database } from '../../../database/postgres/pool.ts';
import { briefly, dispatchFirst } from '../../queue/relay.ts';
import type { RunQueue } from '../../queue/queue.ts';
import { unlessGone } from '../../../database/store/missing.ts';
import type { QueuedRun } from '../../../database/store/run/queued-run.ts';
import { endWait, type CallResult } from '../../../database/store/wait/end-wait.ts';
import { findEventWaits, keepEvent, type EventWait } from '../../../database/store/wait/events.ts';
import { contentOf } from './payload.ts';
import type { SentEvent } from './types.ts';

/** How many waits are read at a time, and ended at once. */
const batch = 200;
const atOnce = 4;
/** Sends an event. See `Events.send`. */
export async function sendEvent(
  db: Database,
  queue: RunQueue,
  event: string,
  payload: unknown,
  { keepMs = 0, by }: { keepMs?: number; by?: string },
): Promise<SentEvent> {
  assertId(event, 'The event');
  assertStorable(by, 'The sender');
  const outcome: CallResult = { status: 'ok', content: contentOf(payload, 'The payload') };
  // first, so that a wait is either found below or finds the kept event
  if (keepMs > 0) await keepEvent(db, { event, content: outcome.content, keepMs, by });
  const resolved: EventWait[] = [];
  const jobs: QueuedRun[] = [];
  const limit = pLimit(atOnce);
  const end = { status: 'resolved' as const, outcome, by, queuePrefix: queue.prefix };
  try {
    for (let found = batch; found === batch;) {
      const waits = await findEventWaits(db, event, batch);
      found = waits.length;
      await limit.map(waits, async (wait) => {
        const { ended, job } = (await endWait(db, wait, wait.call, end).catch(unlessGone)) ?? {};
        if (ended) resolved.push(wait);
        if (job) jobs.push(job);
      });
    }
  } finally {
    await briefly(dispatchFirst(db, queue, jobs), jobs.length);
  }
  return {
    event,
    resolved: resolved.map(({ threadId, runId, call }) => ({ threadId, runId, call: callName(call), ...call })),
    kept: keepMs > 0,
  };
}
