import type { ListedLimit } from '../../runs/operations/limits/limits.ts';
import type { LimitHolder, LimitUsage } from '../../runs/operations/limits/usage.ts';
import { table } from './output.ts';
import type { ListedSchedule, ScheduleSlot } from '../../features/schedules/operations/schedules.ts';
import type { ListedWebhook, WebhookDelivery } from '../../features/webhooks/types.ts';

const header = ['name', 'tenant', 'kind', 'scope', 'key', 'used', 'reserved', 'waiting'];

/** The limits as a table, with a row for each key that has used something. */
export function limitTable(limits: readonly { limit: ListedLimit; uses: readonly LimitUsage[] }[]): string[] {
  const rows = limits.flatMap(({ limit, uses: own }) => {
    const { name, tenant, scope = {} } = limit;
    const shown = [name, tenant ?? '', kindOf(limit), scopeOf(scope)];
    if (own.length === 0) return [[...shown, '', `0 of ${limit.amount}`, '0', '0']];
    return own.map(({ key, amount, used, reserved, waiting }, at) => [
      ...(at === 0 ? shown : ['', '', '', '']),
      ...[key, `${used} of ${amount}`, `${reserved}`, `${waiting}`],
    ]);
  });
  return table(header, rows);
}

/** The runs that hold something of limits. */
export const holderTable = (holders: readonly LimitHolder[]): string[] =>
  table(
    ['limit', 'tenant', 'key', 'holds', 'run', 'thread', 'agent', 'status', 'worker', 'since'],
    holders.map(({ name, tenant, key, amount, kind, ...run }) => [
      ...[name, tenant ?? '', key, `${amount}${kind === 'money' ? ' USD' : ''}`, run.runId, run.threadId, run.agent],
      ...[run.status, run.workerId ?? '', run.since.toISOString()],
    ]),
  );

/** Such as `output tokens per minute` or `US dollars per calendar month (Europe/Berlin)`. */
function kindOf({ kind, tokens, per, calendar, timeZone }: ListedLimit): string {
  const what = kind === 'money' ? 'US dollars' : kind === 'concurrency' ? 'runs at work' : kind;
  const counted = tokens && tokens !== 'total' ? `${tokens} ${what}` : what;
  if (calendar) return `${counted} per calendar ${calendar} (${timeZone ?? 'UTC'})`;
  if (per === undefined) return counted;
  return `${counted} per ${typeof per === 'number' ? `${per / 1_000} s` : per}`;
}

const scopeOf = (scope: Readonly<Record<string, string>>): string =>
  Object.entries(scope)
    .map(([dimension, value]) => `${dimension}=${value}`)
    .join(' ') || 'all runs';

/** Schedules as a table. */
export const scheduleTable = (schedules: readonly ListedSchedule[]): string[] =>
  table(
    ['name', 'tenant', 'agent', 'times', 'overlap', 'next'],
    schedules.map((schedule) => {
      const { name, tenant, agent, overlap = 'skip', next, pausedAt } = schedule;
      const when = pausedAt ? 'paused' : (next[0]?.toISOString() ?? 'ended');
      return [name, tenant, agent, timesOf(schedule), overlap, when];
    }),
  );

/** Slots as a table. */
export const slotTable = (slots: readonly ScheduleSlot[]): string[] =>
  table(
    ['slot', 'status', 'run', 'error'],
    slots.map(({ slot, status, runId, error }) => [slot.toISOString(), status, runId ?? '', error?.message ?? '']),
  );

const timesOf = ({ cron, everyMs, timeZone = 'UTC' }: ListedSchedule): string =>
  cron === undefined ? `every ${everyMs! / 1_000} s` : `${cron} (${timeZone})`;

/** Webhooks as a table. */
export const webhookTable = (webhooks: readonly ListedWebhook[]): string[] =>
  table(
    ['name', 'tenant', 'url', 'types', 'state'],
    webhooks.map(({ name, tenant, url, types, ...state }) => [
      ...[name, tenant, url, types.join(' ') || 'all', stateOf(state)],
    ]),
  );

/** Deliveries as a table. */
export const deliveryTable = (deliveries: readonly WebhookDelivery[]): string[] =>
  table(
    ['delivery', 'event', 'time', 'status', 'attempts', 'answer'],
    deliveries.map(({ id, type, createdAt, status, attempts, statusCode, error }) => [
      ...[id, type, createdAt.toISOString(), status, String(attempts), error?.message ?? String(statusCode ?? '')],
    ]),
  );

type State = Pick<ListedWebhook, 'pausedAt' | 'pausedReason' | 'failures' | 'dropped'>;

function stateOf({ pausedAt, pausedReason, failures, dropped }: State): string {
  const state = pausedAt ? `paused (${pausedReason})` : failures > 0 ? `failing (${failures})` : 'ok';
  return dropped > 0 ? `${state}, dropped ${dropped}` : state;
}
