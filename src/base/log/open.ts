import type { Redactor } from '../redaction/sensitive-keys.ts';
import { logFormat, logLevel } from '../environment.ts';
import { type Logger, type LogFacts, logLevels, logMethods, type LogLevel, oneLine, printable } from './logger.ts';
import { redactSecrets } from '../redaction/error-text.ts';
import { errorStatus, LanefoldError } from '../errors.ts';

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
  const clean = (text: string): string => redactor.text(redactSecrets(text));
  const walk = (value: unknown): unknown => {
    if (typeof value === 'string') return clean(value);
    if (value instanceof Error) return walk(errorFacts(value));
    if (Array.isArray(value)) return value.map(walk);
    if (value === null || typeof value !== 'object') return value;
    return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, walk(child)]));
  };
  const methods = logMethods.map((method) => {
    const off = logLevels.indexOf(method) < logLevels.indexOf(level);
    const write = (facts: LogFacts, message: string) => {
      try {
        logger[method](redactor.value(walk(facts)) as LogFacts, clean(message));
      } catch {
        // a failing log, for example on a full disk, must not fail a run
      }
    };
    return [method, off ? () => {} : write];
  });
  return Object.fromEntries(methods) as Record<(typeof logMethods)[number], Logger['info']>;
}
