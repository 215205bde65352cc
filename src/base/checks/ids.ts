import { createHash, createHmac } from 'node:crypto';
import { v7 } from 'uuid';
import { LanefoldError } from '../errors.ts';

/** 1 to 128 characters: safe in URLs, file names and queue keys. */
export const idGrammar = /^[A-Za-z0-9][A-Za-z0-9._:@-]{0,127}$/;

/** @throws LanefoldError `invalid_id` */
export function assertId(id: unknown, what: string): asserts id is string {
  if (typeof id === 'string' && idGrammar.test(id)) return;
  throw new LanefoldError('invalid_id', `${what} ${JSON.stringify(id)?.slice(0, 80)} is not a valid id.`, {
    hint: 'Use 1 to 128 characters of [A-Za-z0-9._:@-], starting with a letter or digit.',
    details: { what },
  });
}

/** Where new ids come from: a simulation replaces it, so that its seed decides them. */
export const idSource = { uuid: (): string => v7() };

/**
 * A UUIDv7 in 26 characters of base 32. It sorts by time and is 10 characters shorter than the usual text, which
 * matters because every entry stores two ids and two indexes store one.
 */
const sortable = (): string => base32(idSource.uuid().replaceAll('-', ''));

/** Encodes 128 bits of hex in 26 characters. */
const base32 = (hex: string): string => BigInt(`0x${hex}`).toString(32).padStart(26, '0');

export const newId = (prefix: string): string => `${prefix}_${sortable()}`;
export const newThreadId = (): string => newId('thread');
export const newRunId = (): string => newId('run');
/** The tenant of threads created without one. */
export const defaultTenant = 'default';

/**
 * The ids of what callers name instead: a retry of a request whose answer was lost finds the same thread. They derive from
 * the key of the tenant, so two tenants may use the same names, and neither finds out what the other uses, or takes it.
 */
export interface DerivedIds {
  /** The thread of a request that names no thread. */
  thread(requestId: string): string;
  /**
   * The thread and the run of a request that the library makes itself, as for the slot of a schedule. Its request id can be
   * guessed within the tenant, and no request of a caller leads there.
   */
  own(requestId: string): { threadId: string; id: string };
  /** The thread and the id of an imported case, which derive from what it asks: importing it again finds them. */
  case(key: string): { threadId: string; id: string };
}

/** @param key of the tenant, from `name_key` */
export function derivedIds(key: string): DerivedIds {
  const derive = (prefix: string, name: string): string =>
    `${prefix}_${base32(createHmac('sha256', key).update(`${prefix} ${name}`).digest('hex').slice(0, 32))}`;
  return {
    thread: (requestId) => derive('thread', requestId),
    // ids contain no space
    own: (requestId) => ({ threadId: derive('thread', `own ${requestId}`), id: derive('run', `own ${requestId}`) }),
    case: (name) => ({ threadId: derive('thread', `case ${name}`), id: derive('case', name) }),
  };
}

/**
 * A name for a thread or a run on channels where others may listen: ids from callers may name a person, and any role of
 * the database can receive notifications.
 */
export const pseudonym = (...ids: string[]): string =>
  createHash('sha256').update(ids.join(' ')).digest('hex').slice(0, 32);

/** @throws LanefoldError `invalid_input`, `invalid_id` */
export function assertRef(run: { threadId: string; id: string }): void {
  if (typeof run !== 'object' || run === null) {
    throw new LanefoldError('invalid_input', `A run is identified by its thread and id; got ${JSON.stringify(run)}.`, {
      hint: 'Pass { threadId, id }, or what enqueue returned.',
    });
  }
  assertId(run.threadId, 'The thread id');
  assertId(run.id, 'The run id');
}

/** Keys that the runtime writes into the `refs` of an entry. */
const reserved = new Set([
  'kind',
  'request_id',
  'run_id',
  'durable',
  'iteration',
  'context_hash',
  'llm_call_id',
  'policy_hash',
  'dropped',
  'transformed',
  'source',
  'contents',
  'child_run',
  'handoff',
  'agent_version',
  'tool_calls_cut',
  'kinds',
  'kinds_cut',
  'cut_moved',
  'over_budget',
  'summary_role',
  'sent_as',
  'room',
]);

/** Rejects refs that could be mistaken for the runtime's own. @throws LanefoldError `invalid_input` */
export function assertRefs(refs: unknown): void {
  if (refs === undefined || refs === null || typeof refs !== 'object') return;
  const key = Object.keys(refs).find((name) => reserved.has(name));
  if (key === undefined) return;
  throw new LanefoldError('invalid_input', `The key ${JSON.stringify(key)} of the refs is reserved.`, {
    hint: `Nothing was written. Reserved: ${[...reserved].join(', ')}.`,
    details: { key },
  });
}
