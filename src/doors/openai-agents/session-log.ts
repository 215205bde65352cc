import { v7 } from 'uuid';
import { TurnsByKey } from '../../base/common/promises.ts';
import type { JsonObject } from '../../agent/context/message.ts';
import { isLanefoldError, LanefoldError } from '../../base/errors.ts';
import { laneView, shownOf, type Shown } from '../../runs/formats/mirror/lane-view.ts';
import { emptyLane, isShown, laneField, planLane } from '../../runs/formats/mirror/addresses.ts';
import type { Database } from '../../database/postgres/pool.ts';
import { readAppended, readEnds } from '../../database/store/history/read-appended.ts';
import { appendHistory, type LaneChange } from '../../database/store/log/append-history.ts';
import { readEntries } from '../../database/store/log/read-entries.ts';
import { createThread } from '../../database/store/log/read-thread.ts';
import { threadErased } from '../../database/store/missing.ts';
import { itemsKind, type ItemsPayload } from '../../runs/formats/mirror/openai-entry.ts';
import { clears, emptySession, fold, keyOf, type SessionState, readItem, turnsOf } from './items.ts';

/** What an entry changes. */
export interface Change {
  drop?: number;
  clear?: true;
  epoch?: number;
  items: string[];
  key?: { opId: string; hash: string };
}

interface Ends {
  rev: number;
  laneSeq: number;
}

/** A page of entries ends after as many, or as many bytes. */
const pageSize = 500;
const maxBytes = 4 * 1024 * 1024;

/** How often a change is tried again because others have written to the thread. */
const attempts = 50;

/** The entries of a session, as an object knows them, and the one way to add to them. */
export class SessionLog {
  readonly #turns = new TurnsByKey();
  #state: SessionState = emptySession;
  /** Where thread and lane ended when this object last looked; undefined before that, and while there is no thread. */
  #ends: Ends | undefined;
  /** What the items of `#shownFor` show, so that a change reads only the items after it. */
  #shown: Shown = emptyLane.shown!;
  #shownFor: readonly string[] = emptySession.items;

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
   * Applies a change to the session as it is now, or does nothing if there is no change. The first attempt takes the session
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

  async #append({ drop = 0, clear, epoch, items, key }: Change, { rev, laneSeq: lastSeq }: Ends): Promise<void> {
    const { items: before, laneSeq } = this.#state;
    const kept = clear ? [] : before.slice(0, before.length - drop);
    const showedBefore = this.#shownBefore();
    const view = laneView(turnsOf([...kept, ...items].map(readItem)));
    const shown = shownOf(view);
    const known = { lastSeq, shown: lastSeq === laneSeq ? showedBefore : undefined };
    const id = v7();
    const append = async (change: LaneChange | undefined) => {
      const payload = {
        ...(drop > 0 ? { drop } : {}),
        ...(clear ? { clear } : {}),
        ...(epoch === undefined ? {} : { epoch }),
        // without a change, the lane still ends where the session left it
        items,
        lane: laneField(change, change ? lastSeq : laneSeq),
      } satisfies ItemsPayload as unknown as JsonObject;
      const receipt = await appendHistory(this.db, this.sessionId, {
        entry: { kind: itemsKind, contextRef: this.lane, payload },
        lane: change,
        expectedRev: rev,
        idempotencyKey: key?.opId ?? keyOf(clear, rev, id),
        hash: key?.hash ?? id,
      });
      return { receipt, payload };
    };
    const { receipt, payload } = await append(planLane(this.lane, known, view, shown)).catch((error: unknown) => {
      if (!isLanefoldError(error, 'lane_busy') || !isShown(showedBefore, shown)) throw error;
      // the run continues with its lane, and the next change that shows takes it back
      return append(undefined);
    });
    // after a duplicate, others may have written too
    if (receipt.duplicate) this.#ends = undefined;
    else {
      this.#state = fold(this.#state, [{ seq: receipt.firstSeq, payload }]);
      // a number: the lane ends where it did
      this.#ends = { rev: receipt.rev, laneSeq: typeof payload['lane'] === 'number' ? lastSeq : this.#state.laneSeq };
      this.#remember(shown);
    }
  }

  /** What the session shows as this object knows it. */
  #shownBefore(): Shown {
    if (this.#shownFor !== this.#state.items)
      this.#remember(shownOf(laneView(turnsOf(this.#state.items.map(readItem)))));
    return this.#shown;
  }

  #remember(shown: Shown): void {
    [this.#shown, this.#shownFor] = [shown, this.#state.items];
  }

  /** Reads where thread and lane end, and what others have added. */
  async #read(): Promise<void> {
    // before the ends: a clear that comes later is read with the entries
    const [cleared] = this.#state.after < 0 ? await this.#lastClear() : [];
    const ends = await readEnds(this.db, this.sessionId, this.lane);
    if (ends?.erased) throw threadErased(this.sessionId);
    if (ends && ends.rev !== this.#ends?.rev) await this.#readTo(ends.rev, cleared?.seq);
    if (ends?.forkOf && this.#state.after < 0 && ends.laneSeq >= 0)
      throw forked(this.sessionId, ends.forkOf, this.lane);
    this.#ends = ends;
  }

  async #lastClear() {
    return (await readAppended(this.db, this.sessionId, { ...clears, limit: 1 })).entries;
  }

  /** Reads the entries up to a `rev`: an append that comes later is read next time. */
  async #readTo(rev: number, from: number | undefined): Promise<void> {
    let state = this.#state;
    for (let after = from === undefined ? state.after : from - 1; ;) {
      const page = await readEntries(this.db, this.sessionId, { after, kind: itemsKind, limit: pageSize, maxBytes });
      const known = page.entries.filter(({ seq }) => seq < rev);
      state = fold(state, known);
      after = state.after;
      if (known.length < page.entries.length || (!page.cut && page.entries.length < pageSize)) break;
    }
    this.#state = state;
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

const forked = (sessionId: string, parent: string, lane: string): LanefoldError =>
  new LanefoldError('invalid_input', `Thread ${sessionId} is a fork of ${parent}: it has its lanes, but no session.`, {
    hint:
      `Nothing was written. Add the items of the session ${parent} to a session with a new id; or pass another lane ` +
      `than ${lane} to begin an empty session beside it.`,
  });

/** What an attempt fails with if the session is not as the object knows it. */
const mayBeStale = ['rev_conflict', 'session_changed', 'idempotency_mismatch'] as const;
