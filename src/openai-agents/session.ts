import type {
  AgentInputItem,
  SessionHistoryTransactionArgs,
  SessionHistoryTransactionAwareSession,
} from '@openai/agents-core';
import { createHash } from 'node:crypto';
import { v7 } from 'uuid';
import { assertId, newThreadId } from '../checks/ids.ts';
import { refuseUnknownKeys, type KeysOf } from '../checks/unknown-keys.ts';
import { TurnsByKey } from '../common/turns-by-key.ts';
import type { JsonObject } from '../context/message.ts';
import { isLanefoldError, LanefoldError } from '../errors.ts';
import { databaseOf } from '../library/database-of.ts';
import type { TenantLibrary } from '../library/library.ts';
import { laneView, shownOf } from '../mirror/lane-view.ts';
import { emptyLane, laneField, planLane } from '../mirror/plan.ts';
import type { Database } from '../postgres/pool.ts';
import { appendHistory } from '../store/log/append-history.ts';
import { createThread } from '../store/log/read-thread.ts';
import { readEnds, readReceipt } from '../store/history/read-appended.ts';
import { readKind } from '../store/history/read-payloads.ts';
import { threadErased } from '../store/missing.ts';
import { emptySession, fold, itemsKind, type ItemsPayload, type SessionState } from './history.ts';
import { copyItems, readItem, writeItem } from './items.ts';
import { checkTransaction, isSameItem, type CheckedTransaction } from './transaction.ts';
import { turnsOf } from './turns.ts';

export interface LanefoldSessionOptions {
  /** The thread that has the session; default: a new one. */
  sessionId?: string;
  /** The lane that shows the messages, where models, people and SQL can read them; default `openai_agents`. */
  lane?: string;
}

const optionKeys: KeysOf<LanefoldSessionOptions> = { sessionId: true, lane: true };

/** What an entry changes. */
interface Change {
  drop?: number;
  clear?: true;
  items: string[];
  key?: { opId: string; hash: string };
}

interface Ends {
  rev: number;
  laneSeq: number;
}

/** How often a change is tried again because others have written to the thread. */
const attempts = 50;

/**
 * A session of the OpenAI Agents SDK in the log of a thread: each change is an entry of the kind `openai_agents_items`.
 * Messages, calls and results are on a lane too; what goes from the end of the session goes from the lane by a replace.
 * Nothing is deleted: erase the thread for that.
 *
 * @throws LanefoldError `invalid_id` for a session id that is not the id of a thread; its methods throw `lane_busy` while
 * a run of Lanefold is active on the lane, `invalid_input`, `idempotency_mismatch` for an operation id that was used for
 * another transaction, `session_changed` for a suffix that does not match, `context_too_large`, `thread_exists` for a
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
  readonly #lane: string;
  readonly #turns = new TurnsByKey();
  #state: SessionState = emptySession;
  /** Where thread and lane ended when this object last looked; undefined before that, and while there is no thread. */
  #ends: Ends | undefined;

  constructor(lanefold: Pick<TenantLibrary, 'threads'>, options: LanefoldSessionOptions = {}) {
    refuseUnknownKeys('LanefoldSession', options, optionKeys);
    const { sessionId = newThreadId(), lane = 'openai_agents' } = options;
    assertId(sessionId, 'The session id');
    assertId(lane, 'The lane');
    this.#db = databaseOf(lanefold, 'LanefoldSession');
    this.#sessionId = sessionId;
    this.#lane = lane;
  }

  /** The id of the thread. */
  getSessionId(): Promise<string> {
    return Promise.resolve(this.#sessionId);
  }

  /** The items in order; with a limit, the newest ones. */
  getItems(limit?: number): Promise<AgentInputItem[]> {
    return this.#inTurn(async () => {
      await this.#read();
      const { items } = this.#state;
      const wanted = limit === undefined ? items : limit > 0 ? items.slice(-limit) : [];
      return wanted.map(readItem);
    });
  }

  /** Adds items at the end. @throws LanefoldError `invalid_input` for an item that is no data */
  async addItems(items: AgentInputItem[]): Promise<void> {
    const added = copyItems(items).map(writeItem);
    if (added.length > 0) await this.#change(() => ({ items: added }));
  }

  /** Takes the last item off the end; undefined if there is none. */
  async popItem(): Promise<AgentInputItem | undefined> {
    let last: string | undefined;
    await this.#change(({ items }) => {
      last = items.at(-1);
      return last === undefined ? undefined : { drop: 1, items: [] };
    });
    return last === undefined ? undefined : readItem(last);
  }

  /** Empties the session. The log keeps what was in it: to delete it, erase the thread. */
  async clearSession(): Promise<void> {
    await this.#change(({ after, epoch, items }) =>
      after > epoch || items.length > 0 ? { clear: true, items: [] } : undefined,
    );
  }

  /**
   * Adds items, or replaces those at the end, once for each operation id.
   *
   * @throws LanefoldError `invalid_input`, `idempotency_mismatch`, `session_changed`
   */
  async applyHistoryTransaction(args: SessionHistoryTransactionArgs): Promise<void> {
    const transaction = checkTransaction(args);
    await this.#change((state) => this.#transact(state, transaction));
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

  /**
   * Applies a change to the session as it is now, or does nothing if there is none. The first attempt takes the session
   * as this object knows it: where that is not how it is, the append fails, and the change is decided again.
   */
  #change(decide: (state: SessionState) => Change | undefined | Promise<Change | undefined>): Promise<void> {
    return this.#inTurn(async () => {
      for (let attempt = 1; ; attempt++) {
        const asKnown = attempt === 1 && this.#ends !== undefined;
        if (!asKnown) await this.#read();
        try {
          const change = await decide(this.#state);
          if (!change && !asKnown) return;
          if (!change || (!this.#ends && !(await this.#create()))) continue;
          return await this.#append(change, this.#ends!);
        } catch (error) {
          const stale = asKnown && mayBeStale.some((code) => isLanefoldError(error, code));
          if (!stale && !(isLanefoldError(error, 'rev_conflict') && attempt < attempts)) throw error;
        }
      }
    });
  }

  async #append({ drop = 0, clear, items, key }: Change, { rev, laneSeq: lastSeq }: Ends): Promise<void> {
    const { items: before, laneSeq } = this.#state;
    const kept = clear ? [] : before.slice(0, before.length - drop);
    const shown = lastSeq === laneSeq ? shownOf(laneView(turnsOf(before.map(readItem)))) : undefined;
    const view = laneView(turnsOf([...kept, ...items].map(readItem)));
    const change = planLane(this.#lane, { lastSeq, shown }, view, shownOf(view));
    const payload: ItemsPayload = {
      ...(drop > 0 ? { drop } : {}),
      ...(clear ? { clear } : {}),
      ...{ items, lane: laneField(change, lastSeq) },
    };
    const id = v7();
    const receipt = await appendHistory(this.#db, this.#sessionId, {
      entry: { kind: itemsKind, contextRef: this.#lane, payload: payload as unknown as JsonObject },
      lane: change,
      expectedRev: rev,
      idempotencyKey: key?.opId ?? `openai_agents.${id}`,
      hash: key?.hash ?? id,
    });
    // after a duplicate, others may have written too
    if (receipt.duplicate) this.#ends = undefined;
    else {
      this.#state = fold(this.#state, [{ seq: receipt.firstSeq, payload: payload as unknown as JsonObject }]);
      this.#ends = { rev: receipt.rev, laneSeq: this.#state.laneSeq };
    }
  }

  /** Reads where thread and lane end, and what others have added. */
  async #read(): Promise<void> {
    const ends = await readEnds(this.#db, this.#sessionId, this.#lane);
    if (ends?.erased) throw threadErased(this.#sessionId);
    if (ends && ends.rev !== this.#ends?.rev) {
      const more = await readKind(this.#db, this.#sessionId, itemsKind, this.#state.after);
      // an append that `ends` does not know of yet is read next time
      this.#state = fold(
        this.#state,
        more.filter(({ seq }) => seq < ends.rev),
      );
    }
    this.#ends = ends;
  }

  /** Creates the thread; false if another process has done so. @throws LanefoldError `thread_exists` of another tenant */
  async #create(): Promise<boolean> {
    try {
      await createThread(this.#db, { id: this.#sessionId, tenantId: this.#db.tenant });
      this.#ends = { rev: 0, laneSeq: emptyLane.lastSeq };
      return true;
    } catch (error) {
      await this.#read();
      if (this.#ends && isLanefoldError(error, 'thread_exists')) return false;
      throw error;
    }
  }

  #inTurn<T>(task: () => Promise<T>): Promise<T> {
    return this.#turns.take('session', task);
  }
}

/** What an attempt fails with if the session is not as the object knows it. */
const mayBeStale = ['rev_conflict', 'session_changed', 'idempotency_mismatch'] as const;

const digest = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 40);

const otherTransaction = (operationId: string): LanefoldError =>
  new LanefoldError(
    'idempotency_mismatch',
    `The history operation ${operationId} was applied with another transaction.`,
    {
      hint: 'Nothing was written. Use a new operationId for a new transaction.',
    },
  );
