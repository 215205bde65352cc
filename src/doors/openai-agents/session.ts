import type {
  AgentInputItem,
  SessionHistoryTransactionArgs,
  SessionHistoryTransactionAwareSession,
} from '@openai/agents-core';
import { createHash } from 'node:crypto';
import { assertId, newThreadId } from '../../base/checks/ids.ts';
import { refuseUnknownKeys, type KeysOf } from '../../base/checks/unknown-keys.ts';
import { LanefoldError } from '../../base/errors.ts';
import { databaseOf } from '../../features/library/internals.ts';
import type { TenantLibrary } from '../../features/library/library.ts';
import type { Database } from '../../database/postgres/pool.ts';
import { readReceipt } from '../../database/store/history/read-appended.ts';
import { type SessionState, copyItems, readItem, writeItem } from './items.ts';
import { SessionLog, type Change } from './session-log.ts';
import { ModelItem } from '@openai/agents-core/types';

export interface LanefoldSessionOptions {
  /** The thread that has the session; default: a new one. */
  sessionId?: string;
  /** The lane that shows the messages, where models, people and SQL can read them; default `openai_agents`. */
  lane?: string;
}

const optionKeys: KeysOf<LanefoldSessionOptions> = { sessionId: true, lane: true };

/**
 * A session of the OpenAI Agents SDK in the log of a thread: each change is an entry of the kind `openai_agents_items`.
 * Messages, calls and results are on a lane too; what goes from the end of the session goes from the lane by a replace.
 * Nothing is deleted: erase the thread for that.
 *
 * @throws LanefoldError `invalid_id` for a session id that is not the id of a thread; its methods throw `lane_busy` while
 * a run of Lanefold is active on the lane and the change shows there, `invalid_input`, also for a fork, which has no
 * session, `idempotency_mismatch` for an operation id that was used for another transaction, `session_changed` for a suffix that does not match, `context_too_large`, `thread_exists` for a
 * thread of another tenant, `thread_erased`
 *
 * @example
 * ```ts
 * import { createLanefold } from 'lanefold';
 * import { LanefoldSession } from 'lanefold/openai-agents';
 *
 * const lanefold = await createLanefold({ migrate: true });
 * const session = new LanefoldSession(lanefold, { sessionId: 'support-42' });
 * await session.addItems([{ role: 'user', content: 'Where is my order?' }]);
 * console.log(await session.getItems());
 * await lanefold.close();
 * ```
 */
export class LanefoldSession implements SessionHistoryTransactionAwareSession {
  readonly #db: Database;
  readonly #sessionId: string;
  readonly #log: SessionLog;

  constructor(lanefold: Pick<TenantLibrary, 'threads'>, options: LanefoldSessionOptions = {}) {
    refuseUnknownKeys('LanefoldSession', options, optionKeys);
    const { sessionId = newThreadId(), lane = 'openai_agents' } = options;
    assertId(sessionId, 'The session id');
    assertId(lane, 'The lane');
    this.#db = databaseOf(lanefold, 'LanefoldSession');
    this.#sessionId = sessionId;
    this.#log = new SessionLog(this.#db, sessionId, lane);
  }

  /** The id of the thread. */
  getSessionId(): Promise<string> {
    return Promise.resolve(this.#sessionId);
  }

  /** The items in order; with a limit, the newest ones. */
  async getItems(limit?: number): Promise<AgentInputItem[]> {
    const items = await this.#log.items();
    const wanted = limit === undefined ? items : limit > 0 ? items.slice(-limit) : [];
    return wanted.map(readItem);
  }

  /** Adds items at the end. @throws LanefoldError `invalid_input` for an item that is not plain data */
  async addItems(items: AgentInputItem[]): Promise<void> {
    const added = copyItems(items).map(writeItem);
    if (added.length > 0) await this.#log.change(() => ({ items: added }));
  }

  /** Takes the last item off the end; undefined if the session is empty. */
  async popItem(): Promise<AgentInputItem | undefined> {
    let last: string | undefined;
    await this.#log.change(({ items }) => {
      last = items.at(-1);
      return last === undefined ? undefined : { drop: 1, items: [] };
    });
    return last === undefined ? undefined : readItem(last);
  }

  /** Empties the session. The log keeps what was in it: to delete it, erase the thread. */
  async clearSession(): Promise<void> {
    await this.#log.change(({ after, epoch, items }) =>
      after > epoch || items.length > 0 ? { clear: true, items: [] } : undefined,
    );
  }

  /**
   * Replaces the whole history by a compaction and what it retained, at once: after a crash the session has the one or
   * the other. Ids of operations stay used. The SDK calls it.
   *
   * @throws LanefoldError `invalid_input` for an item that is not plain data
   */
  async replaceHistoryWithCompaction(items: AgentInputItem[]): Promise<void> {
    const added = copyItems(items).map(writeItem);
    await this.#log.change(({ epoch }) => ({ clear: true, epoch, items: added }));
  }

  /**
   * Adds items, or replaces those at the end, once for each operation id.
   *
   * @throws LanefoldError `invalid_input`, `idempotency_mismatch`, `session_changed`
   */
  async applyHistoryTransaction(args: SessionHistoryTransactionArgs): Promise<void> {
    const transaction = checkTransaction(args);
    await this.#log.change((state) => this.#transact(state, transaction));
  }

  async #transact({ epoch, items }: SessionState, transaction: CheckedTransaction): Promise<Change | undefined> {
    const { operationId, hash, expected = [], added } = transaction;
    const opId = `openai_agents.${epoch + 1}.${digest(operationId)}`;
    const receipt = await readReceipt(this.#db, this.#sessionId, opId);
    if (receipt && receipt.hash !== hash) throw otherTransaction(operationId);
    if (receipt) return undefined;
    const suffix = expected.length > 0 ? items.slice(-expected.length) : [];
    const same =
      suffix.length === expected.length && suffix.every((text, i) => isSameItem(readItem(text), expected[i]));
    if (!same) {
      throw new LanefoldError('session_changed', `Session ${this.#sessionId} does not end with the expected items.`, {
        hint: 'Nothing was written. Read the items again, and repeat the transaction with those at their end.',
      });
    }
    return { drop: expected.length, items: added.map(writeItem), key: { opId, hash } };
  }
}

const digest = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 40);

const otherTransaction = (operationId: string): LanefoldError =>
  new LanefoldError(
    'idempotency_mismatch',
    `The history operation ${operationId} was applied with another transaction.`,
    {
      hint: 'Nothing was written. Use a new operationId for a new transaction.',
    },
  );

/** A transaction that was checked and copied. */
interface CheckedTransaction {
  operationId: string;
  /** The same for every transaction with this content. */
  hash: string;
  /** What has to be at the end, and goes; undefined for a mere append. */
  expected: AgentInputItem[] | undefined;
  added: AgentInputItem[];
}

const fields = { append_items: ['items'], replace_suffix: ['expectedSuffix', 'replacement'] } as const;

/** Checks a transaction as the SDK demands it. @throws LanefoldError `invalid_input` */
function checkTransaction(args: SessionHistoryTransactionArgs): CheckedTransaction {
  const { operationId, transaction } = Object(args) as { operationId: unknown; transaction: unknown };
  if (typeof operationId !== 'string' || operationId.trim() === '') throw invalid('has no operationId');
  const copy = tryCopy(transaction) as Record<string, unknown>;
  const names = Object.hasOwn(fields, String(copy?.['type'])) ? fields[copy['type'] as keyof typeof fields] : undefined;
  if (!names) throw invalid('is neither append_items nor replace_suffix');
  const lists = names.map((name) => copy[name]);
  if (Object.keys(copy).length !== names.length + 1 || !lists.every((list) => Array.isArray(list)))
    throw invalid(`has other fields than ${names.join(' and ')}`);
  for (const item of lists.flat())
    if (!ModelItem.safeParse(item).success) throw invalid('has an item of no known form');
  const [first, second] = lists as AgentInputItem[][];
  return {
    operationId,
    hash: createHash('sha256').update(writeItem(copy)).digest('base64url'),
    ...(second === undefined ? { expected: undefined, added: first! } : { expected: first!, added: second }),
  };
}

/** Whether two items have the same content. */
function isSameItem(stored: unknown, expected: unknown): boolean {
  try {
    return writeItem(sortedCopy(stored)) === writeItem(sortedCopy(expected));
  } catch {
    return false;
  }
}

function tryCopy(value: unknown): unknown {
  try {
    return sortedCopy(value);
  } catch (error) {
    throw invalid(`has ${(error as Error).message}`);
  }
}

/** Copies data, with sorted keys. Throws for what cannot be compared: cycles, accessors, instances of classes. */
function sortedCopy(value: unknown, within: readonly object[] = []): unknown {
  if (value === null || value === undefined || ['string', 'boolean', 'number'].includes(typeof value)) return value;
  if (typeof value !== 'object') throw new Error(`a ${typeof value}`);
  if (within.includes(value)) throw new Error('a cycle');
  const inside = [...within, value];
  if (value instanceof Uint8Array) return new Uint8Array(value);
  const keys = Reflect.ownKeys(value).filter((key) => !(Array.isArray(value) && key === 'length'));
  const fields = keys.sort().map((key) => {
    const field = Object.getOwnPropertyDescriptor(value, key)!;
    if (typeof key !== 'string' || !field.enumerable || !('value' in field))
      throw new Error('a field that is not plain data');
    return [key, sortedCopy(field.value, inside)] as const;
  });
  if (Array.isArray(value)) {
    if (fields.length !== value.length) throw new Error('a list with holes');
    return Array.from({ length: value.length }, (_, i) => sortedCopy(value[i], inside));
  }
  const prototype = Object.getPrototypeOf(value) as unknown;
  if (prototype !== Object.prototype && prototype !== null) throw new Error('an instance of a class');
  return Object.fromEntries(fields);
}

const invalid = (what: string): LanefoldError =>
  new LanefoldError('invalid_input', `The history transaction ${what}.`, {
    hint: 'Nothing was written. Pass { operationId, transaction: { type: "append_items", items } }, or a replace_suffix.',
  });
