import type { RemovedRows } from './types.ts';

/** Of every erasure. */
export const left: readonly string[] = [
  'the ids of the thread and tenant and the times of creation and erasure, so that the thread id is never reused',
  'ids and statuses of runs in the event streams of the queue, until BullMQ trims them',
  'backups, replicas and write-ahead logs of PostgreSQL and Redis',
  'data that model providers and tools keep from requests',
  'logs of your processes, and copies that clients of the API made',
];

/** Of the erasure of a tenant: it may continue, and you decide what it may do. */
export const leftOfTenant: readonly string[] = [
  'API keys of the tenant: revoke them, or they start further runs; tokens of events end with the key that made them, or when they expire',
  'limits of the tenant and what was used of limits, with the values that they count by, such as ids of customers and users',
  'the settings of the tenant, such as the limits of its keys',
  'the audit, which says what schedules, webhooks, limits, monitors and alarms of the tenant were set to',
  'schedules that your programs define, which the next worker that starts sets again',
];

/** Of the erasure of a thread. */
export const leftForks = 'forks of the thread, which are threads of their own: erase them too';

const shownChildren = 20;

/** Of a thread whose runs called agents, with the ids of the threads that stay. */
export const leftChildren = (ids: readonly string[]): string => {
  const more = ids.length > shownChildren ? ` and ${ids.length - shownChildren} more` : '';
  return (
    `the threads of agents that its runs called (${ids.slice(0, shownChildren).join(', ')}${more}): erase them too, ` +
    'unless they have become conversations of their own'
  );
};

export const addRemoved = (a: RemovedRows, b: RemovedRows): RemovedRows =>
  Object.fromEntries(Object.entries(a).map(([key, value]) => [key, value + b[key as keyof RemovedRows]])) as never;
