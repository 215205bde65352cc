import { isLanefoldError, errorStatus, LanefoldError, type ErrorCode } from '../errors.ts';
import { secretRedactor, type Redactor } from '../redaction/sensitive-keys.ts';
import { logFormat, logLevel } from '../environment.ts';

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

/** JSON lines on stderr through `pino`, loaded only here. stdout stays reserved for the results of commands. */
async function jsonLogger(): Promise<Logger> {
  const { pino } = await import('pino');
  const logger: Logger = pino(
    {
      // the level is filtered earlier, for every logger alike
      level: 'debug',
      base: { service: 'lanefold', pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (level) => ({ level }) },
      // redaction has already turned errors into data
      serializers: { err: (error: unknown) => error },
    },
    // a crash would lose buffered lines, when they matter most
    pino.destination({ dest: 2, sync: true }),
  );
  return logger;
}

/**
 * The logger of a process: the application's own, JSON lines (`LANEFOLD_LOG=json`), or text. By default, text logs only
 * errors, because the commands tell people what happens.
 *
 * @throws LanefoldError `invalid_input` for a format or level that does not exist
 */
export async function openLogger(redactor: Redactor, own?: Logger): Promise<Logger> {
  const json = logFormat() === 'json';
  const level = logLevel() ?? (json || own ? 'info' : 'error');
  return redacted(own ?? (json ? await jsonLogger() : textLogger()), redactor, level);
}

/** Lines for people, on stderr: what happened and to which run. The stack of a bug follows its line. */
export function textLogger(write = (line: string) => void process.stderr.write(line)): Logger {
  const line = ({ component, err, ...facts }: LogFacts, message: string): void => {
    const { stack } = (err ?? {}) as { stack?: unknown };
    const rest = Object.entries(facts)
      // skip facts that the message already contains
      .filter(([, value]) => value !== undefined && !(typeof value === 'string' && message.includes(value)))
      .map(([key, value]) => ` ${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
      .join('');
    const source = typeof component === 'string' ? `lanefold ${component}` : 'lanefold';
    write(`${source}: ${oneLine(message + rest)}\n${typeof stack === 'string' ? `${printable(stack)}\n` : ''}`);
  };
  return { debug: line, info: line, warn: line, error: line };
}

/** An error as data. Only bugs keep their stack: other errors say what happened and what to do. */
function errorFacts(error: unknown, depth = 0): unknown {
  if (!(error instanceof Error)) return error;
  const expected = error instanceof LanefoldError && errorStatus[error.code] !== 500;
  const { code } = error as { code?: unknown };
  return {
    type: error.name,
    ...(typeof code === 'string' ? { code } : {}),
    message: error.message,
    ...(expected ? {} : { stack: error.stack }),
    ...(error.cause === undefined || depth === 3 ? {} : { cause: errorFacts(error.cause, depth + 1) }),
  };
}

/** Removes secrets from log lines, by key and by form, and drops lines below the level. */
export function redacted(logger: Logger, redactor: Redactor, level: LogLevel): Logger {
  const walk = (value: unknown, clean: (text: string) => string): unknown => {
    if (typeof value === 'string') return clean(value);
    if (value instanceof Error) return walk(errorFacts(value), clean);
    if (Array.isArray(value)) return value.map((item) => walk(item, clean));
    if (value === null || typeof value !== 'object') return value;
    return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, walk(child, clean)]));
  };
  const methods = logMethods.map((method) => {
    const off = logLevels.indexOf(method) < logLevels.indexOf(level);
    const write = (facts: LogFacts, message: string) => {
      try {
        const redact = secretRedactor();
        const clean = (text: string): string => redactor.text(redact(text));
        logger[method](redactor.value(walk(facts, clean)) as LogFacts, clean(message));
      } catch {
        // a failing log, for example on a full disk, must not fail a run
      }
    };
    return [method, off ? () => {} : write];
  });
  return Object.fromEntries(methods) as Record<(typeof logMethods)[number], Logger['info']>;
}
