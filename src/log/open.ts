import type { Redactor } from '../redaction/sensitive-keys.ts';
import { logFormat, logLevel } from '../environment.ts';
import type { Logger } from './logger.ts';
import { redacted } from './redacted.ts';
import { textLogger } from './text-logger.ts';

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
