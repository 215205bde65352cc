import type { Logger } from '../../src/base/log/logger.ts';

/** A logger that keeps every line, at any level, as the text it would be. */
export function openLogger(): { lines: string[]; logger: Logger } {
  const lines: string[] = [];
  const at = (level: string) => (facts: object, message: string) =>
    void lines.push(JSON.stringify({ level, ...facts, message }));
  return { lines, logger: { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') } };
}
