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
export type LogMethod = Exclude<LogLevel, 'silent'>;

export const logMethods: readonly LogMethod[] = ['debug', 'info', 'warn', 'error'];
