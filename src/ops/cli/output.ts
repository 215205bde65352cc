import pc from 'picocolors';
import { printable } from '../../base/log/logger.ts';
import type { LimitHolder, LimitUsage, ListedLimit } from '../../runs/operations/limits/types.ts';
import type { ListedSchedule, ScheduleSlot } from '../../features/schedules/types.ts';
import type { ListedWebhook, WebhookDelivery } from '../../features/webhooks/types.ts';

type Stream = NodeJS.WriteStream;

/** Colours for a stream: on a terminal or with FORCE_COLOR, and never with NO_COLOR. */
export function colours(stream: Stream = process.stdout) {
  const { NO_COLOR: never, FORCE_COLOR: forced } = process.env;
  return pc.createColors(!never && (forced ? forced !== '0' : Boolean(stream.isTTY)));
}

/** A line of the command's result. */
export const print = (line = ''): void => void process.stdout.write(`${line}\n`);

/** Control characters that JSON does not escape but some terminals act on. */
const controls = /[\x7f-\x9f]/g;
const spelled = (control: string): string => `\\u00${control.charCodeAt(0).toString(16)}`;

/** The command's result for machines, as one line of JSON that is safe on a terminal. */
export const printJson = (value: unknown): void => print(JSON.stringify(value).replace(controls, spelled));

/** Whether stderr is read by machines, which expect a JSON object on each line. */
export const jsonLogs = (): boolean => process.env['LANEFOLD_LOG'] === 'json';

/** Whether a worker prints a line for each run that ends: JSON logs already have it, and a silent log wants no line. */
export const tellsOfRuns = (): boolean => !jsonLogs() && process.env['LANEFOLD_LOG_LEVEL'] !== 'silent';

/** A status line on stderr, not part of the result. */
export function note(msg: string, facts: Record<string, unknown> = { level: 'info' }): void {
  const line = jsonLogs()
    ? JSON.stringify({ ...facts, time: new Date(), service: 'lanefold', pid: process.pid, msg })
    : msg;
  process.stderr.write(`${line}\n`);
}

interface ProgressLine {
  /** Shows the text, at a limited rate. */
  update(text: string): void;
  /** Removes the progress line. */
  end(): void;
}

const redrawMs = 100;
const lineMs = 5_000;

/**
 * Shows the progress of long work on stderr: one updating line on a terminal, elsewhere a line every five seconds,
 * which shows activity without flooding a log.
 */
export function createProgress(stream: Stream = process.stderr): ProgressLine {
  const tty = Boolean(stream.isTTY);
  let shownAt = tty ? -Infinity : performance.now();
  let open = false;
  return {
    update(text) {
      const now = performance.now();
      if (now - shownAt < (tty ? redrawMs : lineMs)) return;
      shownAt = now;
      open = tty;
      stream.write(tty ? `\r\u001b[2K${text.slice(0, (stream.columns || 80) - 1)}` : `${text}\n`);
    },
    end() {
      if (open) stream.write('\r\u001b[2K');
      open = false;
    },
  };
}

/** Formats rows as a plain table. Values are cut at `limit` characters. */
export function table(header: string[], rows: unknown[][], limit = 60): string[] {
  const cells = [header, ...rows.map((row) => row.map((value) => cut(show(value), limit)))];
  const widths = header.map((_, i) => Math.max(...cells.map((row) => row[i]!.length)));
  const lines = cells.map((row) =>
    row
      .map((cell, i) => cell.padEnd(widths[i]!))
      .join('  ')
      .trimEnd(),
  );
  return [lines[0]!, widths.map((width) => '-'.repeat(width)).join('  '), ...lines.slice(1)];
}

const show = (value: unknown): string =>
  value === null || value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value);

const cut = (text: string, limit: number): string => {
  const line = printable(text.replaceAll('\n', ' '));
  return line.length > limit ? `${line.slice(0, limit - 1)}…` : line;
};

const header = ['name', 'tenant', 'kind', 'scope', 'key', 'used', 'reserved', 'waiting'];

/** The limits as a table, with a row for each key that has used something. */
export function limitTable(limits: readonly { limit: ListedLimit; uses: readonly LimitUsage[] }[]): string[] {
  const rows = limits.flatMap(({ limit, uses: own }) => {
    const { name, tenant, scope = {} } = limit;
    const shown = [name, tenant ?? '', kindOf(limit), scopeOf(scope)];
    if (own.length === 0) return [[...shown, '', `0 of ${limit.amount}`, '0', '0']];
    return own.map(({ key, amount, used, reserved, waiting }, at) => [
      ...(at === 0 ? shown : ['', '', '', '']),
      key,
      `${used} of ${amount}`,
      `${reserved}`,
      `${waiting}`,
    ]);
  });
  return table(header, rows);
}

/** The runs that hold something of limits. */
export const holderTable = (holders: readonly LimitHolder[]): string[] =>
  table(
    ['limit', 'tenant', 'key', 'holds', 'run', 'thread', 'agent', 'status', 'worker', 'since'],
    holders.map(({ name, tenant, key, amount, kind, ...run }) => [
      name,
      tenant ?? '',
      key,
      `${amount}${kind === 'money' ? ' USD' : ''}`,
      run.runId,
      run.threadId,
      run.agent,
      run.status,
      run.workerId ?? '',
      run.since.toISOString(),
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
      name,
      tenant,
      url,
      types.join(' ') || 'all',
      stateOf(state),
    ]),
  );

/** Deliveries as a table. */
export const deliveryTable = (deliveries: readonly WebhookDelivery[]): string[] =>
  table(
    ['delivery', 'event', 'time', 'status', 'attempts', 'answer'],
    deliveries.map(({ id, type, createdAt, status, attempts, statusCode, error }) => [
      id,
      type,
      createdAt.toISOString(),
      status,
      String(attempts),
      error?.message ?? String(statusCode ?? ''),
    ]),
  );

type State = Pick<ListedWebhook, 'pausedAt' | 'pausedReason' | 'failures' | 'dropped'>;

function stateOf({ pausedAt, pausedReason, failures, dropped }: State): string {
  const state = pausedAt ? `paused (${pausedReason})` : failures > 0 ? `failing (${failures})` : 'ok';
  return dropped > 0 ? `${state}, dropped ${dropped}` : state;
}
