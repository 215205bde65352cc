import { isLanefoldError, type ErrorCode } from '../errors.ts';

/** The facts of a log line, by name: ids in snake_case, and the error as `err`. */
export type LogFacts = Record<string, unknown>;

/**
 * Where log lines go. It has the shape of `pino`, so an application can pass its own logger. No method may throw.
 *
 * @example
 * await createLanefold({ agents, logger: pino() });
 */
export interface Logger {
  debug(facts: LogFacts, message: string): void;
  info(facts: LogFacts, message: string): void;
  warn(facts: LogFacts, message: string): void;
  error(facts: LogFacts, message: string): void;
}

/** From most to least verbose. */
export const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];
type LogMethod = Exclude<LogLevel, 'silent'>;

export const logMethods: readonly LogMethod[] = ['debug', 'info', 'warn', 'error'];

type Meanwhile = Partial<Record<ErrorCode, string>>;

/** What happens to the work while a service is down. */
const withoutService: Meanwhile = {
  queue_unreachable: 'Retrying; accepted runs wait in PostgreSQL and start when the queue is back.',
  database_unreachable:
    'Retrying; no run is accepted until PostgreSQL is back. Active runs then continue from their last commit.',
};

/** Matches a run's job in a message: after an outage BullMQ reports every job whose lock has expired. */
const jobs = /\brun_\w+\.\d+\b/g;

/**
 * Logs errors not tied to a run: errors of the same kind or the same outage at most every ten seconds, and no error that the end
 * of the instance itself has caused.
 *
 * @param meanwhile what happens until an error of that code is over
 */
export function reportErrors(log: Logger, component: string, meanwhile = withoutService): (error: unknown) => void {
  const isDue = seldom();
  return (err) => {
    // work that the instance's own end has cut off is left to other processes
    if (isLanefoldError(err, 'lanefold_closed')) return;
    const message = err instanceof Error ? err.message : String(err);
    const consequence = isLanefoldError(err) ? meanwhile[err.code] : undefined;
    // an outage causes many messages, one for each way a connection can fail
    if (!isDue(consequence ?? message.replace(jobs, ''))) return;
    log.error({ component, ...codeOf(err) }, consequence ? `${message} ${consequence}` : message);
  };
}

/** Connections fail with many kinds of errors; their codes are useful, their stacks are not. */
const codeOf = (error: unknown): { code?: string } => {
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === 'string' ? { code } : {};
};

const quietMs = 10_000;

/** Tells whether a line is due: the same line at most every ten seconds, because an outage fails everything at once. */
export function seldom(): (line: string) => boolean {
  const shownAt = new Map<string, number>();
  return (line) => {
    const now = performance.now();
    if (now - (shownAt.get(line) ?? -Infinity) < quietMs) return false;
    if (shownAt.size > 100) shownAt.clear();
    shownAt.set(line, now);
    return true;
  };
}

/** Control characters a terminal may act on; tabs and line breaks are harmless. */
const control = /[\x00-\x08\x0b-\x1f\x7f-\x9f]/g;

/** Makes text of models, tools and users safe to print: control characters become U+FFFD. */
export const printable = (text: string): string => text.replace(/\r\n/g, '\n').replace(control, '\ufffd');

/** The same, on one line. */
export const oneLine = (text: string): string =>
  printable(
    text
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '')
      .join(' '),
  );
