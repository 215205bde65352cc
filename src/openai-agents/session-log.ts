import { v7 } from 'uuid';
import { TurnsByKey } from '../common/turns-by-key.ts';
import type { JsonObject } from '../context/message.ts';
import { isLanefoldError } from '../errors.ts';
import { laneView, shownOf } from '../mirror/lane-view.ts';
import { emptyLane, laneField, planLane } from '../mirror/plan.ts';
import type { Database } from '../postgres/pool.ts';
import { readEnds } from '../store/history/read-appended.ts';
import { readKind } from '../store/history/read-payloads.ts';
import { appendHistory } from '../store/log/append-history.ts';
import { createThread } from '../store/log/read-thread.ts';
import { threadErased } from '../store/missing.ts';
import { emptySession, fold, itemsKind, type ItemsPayload, type SessionState } from './history.ts';
import { readItem } from './items.ts';
import { turnsOf } from './turns.ts';

/** What an entry changes. */
export interface Change {
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

/** The entries of a session, as an object knows them, and the one way to add to them. */
export class SessionLog {
  readonly #turns = new TurnsByKey();
  #state: SessionState = emptySession;
  /** Where thread and lane ended when this object last looked; undefined before that, and while there is no thread. */
  #ends: Ends | undefined;

  constructor(
    private readonly db: Database,
    private readonly sessionId: string,
    private readonly lane: string,
  ) {}

  /** The items of the session now. */
  items(): Promise<string[]> {
    return this.#inTurn(async () => {
      await this.#read();
      return this.#state.items;
    });
  }

  /**
   * Applies a change to the session as it is now, or does nothing if there is none. The first attempt takes the session
   * as this object knows it: where that is not how it is, the append fails, and the change is decided again.
   */
  change(decide: (state: SessionState) => Change | undefined | Promise<Change | undefined>): Promise<void> {
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
    const change = planLane(this.lane, { lastSeq, shown }, view, shownOf(view));
    const payload: ItemsPayload = {
      ...(drop > 0 ? { drop } : {}),
      ...(clear ? { clear } : {}),
      ...{ items, lane: laneField(change, lastSeq) },
    };
    const id = v7();
    const receipt = await appendHistory(this.db, this.sessionId, {
      entry: { kind: itemsKind, contextRef: this.lane, payload: payload as unknown as JsonObject },
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
    const ends = await readEnds(this.db, this.sessionId, this.lane);
    if (ends?.erased) throw threadErased(this.sessionId);
    if (ends && ends.rev !== this.#ends?.rev) {
      const more = await readKind(this.db, this.sessionId, itemsKind, this.#state.after);
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
      await createThread(this.db, { id: this.sessionId, tenantId: this.db.tenant });
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
