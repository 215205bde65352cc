import type { Redactor } from '../redaction/sensitive-keys.ts';
import { logFormat, logLevel } from '../environment.ts';
import { jsonLogger } from './json-logger.ts';
import type { Logger } from './logger.ts';
import { redacted } from './redacted.ts';
import { textLogger } from './text-logger.ts';

/**
 * The logger of a process: the application's own, JSON lines (`LANEFOLD_LOG=json`), or text. Text has errors alone by
 * default, because the commands tell people what happens.
 *
 * @throws LanefoldError `invalid_input` for a format or level that does not exist
 */
export async function openLogger(redactor: Redactor, own?: Logger): Promise<Logger> {
  const json = logFormat() === 'json';
  const level = logLevel() ?? (json || own ? 'info' : 'error');
  return redacted(own ?? (json ? await jsonLogger() : textLogger()), redactor, level);
}
