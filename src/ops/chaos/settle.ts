import type { Observer } from './observer.ts';
import { delay } from '../../base/common/timer.ts';

/** What workers have yet to do: runs, among them those that calls started, tasks of waits, accounts of limits, slots, and events. */
const leftSql = `
  select (select count(*)::int from lanefold.run where finished_at is null)
    + (select count(*)::int from lanefold._wait where status = 'open' or task is not null)
    + (select count(*)::int from lanefold._child_run where ended_at is null or told_at is null)
    + (select count(*)::int from lanefold._limit_account)
    + (select count(*)::int from lanefold.schedule_slot where status in ('due', 'firing'))
    + (select count(*)::int from lanefold.webhook_delivery where status = 'pending') as left`;

/**
 * Waits until nothing is left to do; after `patienceMs` without it, the checks find what is.
 *
 * @param hurry makes due what is due later
 */
export async function settle(observer: Observer, patienceMs: number, hurry: () => Promise<void>): Promise<void> {
  const until = performance.now() + patienceMs;
  while (performance.now() < until) {
    const [row] = await observer.query<{ left: number }>(leftSql);
    if (row!.left === 0) return;
    await hurry();
    await delay(200);
  }
}
