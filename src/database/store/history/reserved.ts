import { LanefoldError } from '../../../base/errors.ts';

/** The frameworks whose histories the log keeps. */
export const historyOwners = ['langgraph', 'openai_agents'];

/**
 * Refuses kinds and idempotency keys of entries that only `appendHistory` may write: a history is found by its keys and
 * read by its kinds, so such an entry of a caller would become part of it.
 *
 * @throws LanefoldError `reserved_kind`
 */
export function assertNotHistory(kinds: readonly unknown[], idempotencyKey: string | undefined): void {
  for (const owner of historyOwners) {
    const kind = kinds.find((each) => typeof each === 'string' && each.startsWith(`${owner}_`));
    if (kind !== undefined) throw reserved(`The kind ${kind as string} is`, `kinds that do not begin with ${owner}_`);
    if (idempotencyKey?.startsWith(`${owner}.`))
      throw reserved(`The idempotency key ${idempotencyKey} is`, `keys that do not begin with ${owner}.`);
  }
}

const reserved = (what: string, instead: string): LanefoldError =>
  new LanefoldError('reserved_kind', `${what} reserved for the history of another framework.`, {
    hint: `Nothing was written. Use ${instead}`,
  });
