import type { Logger } from './logger.ts';

/** JSON lines on stderr, by `pino`, which is loaded here. stdout stays for the results of commands. */
export async function jsonLogger(): Promise<Logger> {
  const { pino } = await import('pino');
  const logger: Logger = pino(
    {
      // the level is applied before, for every logger alike
      level: 'debug',
      base: { service: 'lanefold', pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (level) => ({ level }) },
      // redacted facts are data already
      serializers: { err: (error: unknown) => error },
    },
    // a line that waits in a buffer is lost in a crash, when it matters most
    pino.destination({ dest: 2, sync: true }),
  );
  return logger;
}
