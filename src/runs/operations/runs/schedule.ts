import type { JsonObject } from '../../../agent/context/message.ts';
import { assertWhole } from '../../../base/checks/whole-number.ts';

/** When a worker may start a run, and before which other runs. */
export interface Schedule {
  /** No worker starts the run before this time has passed. Meanwhile it keeps its thread busy, like any queued run. */
  delayMs?: number;
  /** The run fails with `expired` if no worker has started it this long after it was accepted, or after its delay. */
  ttlMs?: number;
  /**
   * Priority among the jobs that wait for a worker, as in BullMQ: 0 (default) goes first, then lower numbers before
   * higher ones. On a thread, runs keep their order.
   */
  priority?: number;
}

/** A year. */
export const maxDelayMs = 31_536_000_000;
/** BullMQ's limit. */
export const maxPriority = 2_097_151;

export function assertSchedule({ delayMs, ttlMs, priority }: Schedule): void {
  assertWhole(delayMs, 'delayMs', { maximum: maxDelayMs, hint: 'Omit it to start at once.' });
  assertWhole(ttlMs, 'ttlMs', { minimum: 1, maximum: maxDelayMs, hint: 'Omit it to wait without limit.' });
  assertWhole(priority, 'priority', { maximum: maxPriority, hint: 'Omit it to go first.' });
}

/** The times as `enqueue_run` takes them; the priority is one of the run's options. */
export const timesOf = ({ delayMs, ttlMs }: Schedule): JsonObject => ({
  ...(delayMs ? { delay_ms: delayMs } : {}),
  ...(ttlMs === undefined ? {} : { ttl_ms: ttlMs }),
});
