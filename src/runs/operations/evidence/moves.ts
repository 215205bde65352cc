import type { Database } from '../../../database/postgres/pool.ts';
import { entryHash, readLog, type StoredEntry, type StoredLog } from '../../../database/store/evidence/read-log.ts';
import type { EvidenceFinding } from './finding.ts';

/** A place where entries are missing, with the hash of the entry before it. */
interface Gap {
  threadId: string;
  tenantId: string;
  seq: number;
  before: string;
}

/** How many gaps and strangers are compared; further ones are still reported as missing and altered. */
const most = 100;

/** Finds entries that were moved: those that do not fit their thread, but fit a gap elsewhere. */
export class Moves {
  readonly #gaps: Gap[] = [];
  readonly #strangers: { threadId: string; seq: number; upto: number }[] = [];

  /** Entries are missing from `seq` on. */
  lost(threadId: string, tenantId: string | undefined, seq: number, before: string | null): void {
    if (tenantId !== undefined && before !== null && this.#gaps.length < most)
      this.#gaps.push({ threadId, tenantId, seq, before });
  }

  /** The entry at `seq` is not the one that was written there. */
  stranger(threadId: string, seq: number): void {
    const last = this.#strangers.at(-1);
    if (last?.threadId === threadId && last.upto === seq - 1) last.upto = seq;
    else if (this.#strangers.length < most) this.#strangers.push({ threadId, seq, upto: seq });
  }

  async *findings(db: Database): AsyncGenerator<EvidenceFinding, void, void> {
    if (this.#gaps.length === 0) return;
    for (const { threadId, seq } of this.#strangers)
      yield* readLog(db, threadId, (log) => this.#origin(log, threadId, seq));
  }

  async *#origin(log: StoredLog, threadId: string, seq: number): AsyncGenerator<EvidenceFinding, void, void> {
    let gap: Gap | undefined;
    let moved = 0;
    let before: string | null = null;
    for await (const e of log.entries(seq)) {
      gap ??= this.#gaps.find((each) => fits(e, each, 0, each.before));
      if (!gap || (before !== null && !fits(e, gap, moved, before))) break;
      before = e.hash;
      moved += 1;
    }
    if (!gap) return;
    const from = { fromThreadId: gap.threadId, fromSeq: gap.seq };
    yield { threadId, seq, upto: seq + moved - 1, problem: 'moved', ...from };
  }
}

/** Whether an entry was written `n` entries into a gap, after an entry with the hash `before`. */
const fits = (e: StoredEntry, { threadId, tenantId, seq }: Gap, n: number, before: string): boolean =>
  entryHash(before, { ...e, thread_id: threadId, tenant_id: tenantId, seq: String(seq + n) }) === e.hash;
