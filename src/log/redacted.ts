import { redactSecrets } from '../redaction/error-text.ts';
import type { Redactor } from '../redaction/sensitive-keys.ts';
import { logLevels, logMethods, type LogFacts, type Logger, type LogLevel } from './logger.ts';
import { errorStatus, LanefoldError } from '../errors.ts';

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
