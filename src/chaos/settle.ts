import { setTimeout as delay } from 'node:timers/promises';
import type { Observer } from './observer.ts';

/** What workers have yet to do: runs, among them those that calls started, tasks of waits, and accounts of limits. */
const leftSql = `
  select (select count(*)::int from lanefold.run where finished_at is null)
    + (select count(*)::int from lanefold._wait where status = 'open' or task is not null)
    + (select count(*)::int from lanefold._child_run where ended_at is null or told_at is null)
    + (select count(*)::int from lanefold._limit_account) as left`;

/** Waits until nothing is left to do; after `patienceMs` without it, the checks find what is. */
export async function settle(observer: Observer, patienceMs: number): Promise<void> {
  const until = performance.now() + patienceMs;
  while (performance.now() < until) {
    const [row] = await observer.query<{ left: number }>(leftSql);
    if (row!.left === 0) return;
    await delay(200);
  }
}
