import { v7 } from 'uuid';
import { LanefoldError } from './errors.ts';

/** What an id may look like. */
export const idGrammar = /^[A-Za-z0-9][A-Za-z0-9._:@-]{0,127}$/;

/** Ids are 1 to 128 of `[A-Za-z0-9._:@-]`, starting alphanumeric: safe in URLs, file names and queue keys. */
export function assertId(id: unknown, what: string): asserts id is string {
  if (typeof id === 'string' && idGrammar.test(id)) return;
  throw new LanefoldError('invalid_id', `${what} ${JSON.stringify(id)?.slice(0, 80)} is not a valid id.`, {
    hint: 'Use 1 to 128 characters of [A-Za-z0-9._:@-], starting with a letter or digit.',
    details: { what },
  });
}

export const newThreadId = (): string => `thread_${v7()}`;
export const newRunId = (): string => `run_${v7()}`;
export const newId = (prefix: string): string => `${prefix}_${v7()}`;
