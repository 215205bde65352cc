import type { Database } from '../../../database/postgres/pool.ts';
import {
  chainStart,
  entryHash,
  readLog,
  type StoredEntry,
  type Head,
  type StoredLog,
} from '../../../database/store/evidence/read-log.ts';
import type { EvidenceFinding } from './finding.ts';
import type { Moves } from './moves.ts';
import { parseJson } from '../../../base/common/json.ts';

/**
 * Compares the entries of a thread with its chain, which is computed again from the first entry, and with its `heads`,
 * which are ordered by seq.
 */
export const verifyThread = (
  db: Database,
  threadId: string,
  heads: readonly Head[],
  moves: Moves,
): AsyncGenerator<EvidenceFinding, void, void> =>
  inRanges(readLog(db, threadId, (log) => findings(log, threadId, heads, moves)));

/** A thread as it is verified. */
interface Verified {
  log: StoredLog;
  threadId: string;
  heads: readonly Head[];
  moves: Moves;
  /** As it was before its entries were read. */
  thread: Awaited<ReturnType<StoredLog['thread']>>;
  tenantId: string | undefined;
}

/** What its entries have told. */
interface Walked {
  /** The seq after the last entry, and the hash of that entry; null if unknown. */
  next: number;
  before: string | null;
  replaced: boolean;
  otherTenant: boolean;
}

async function* findings(
  log: StoredLog,
  threadId: string,
  heads: readonly Head[],
  moves: Moves,
): AsyncGenerator<EvidenceFinding, void, void> {
  // The thread is read before and after its entries: a distributed database has no single snapshot of both.
  const thread = await log.thread();
  const verified = { log, threadId, heads, moves, thread, tenantId: thread?.tenantId ?? heads[0]?.tenantId };
  const walked = yield* entryFindings(verified);
  if (walked) yield* threadFindings(verified, walked);
}

const ofThread = (threadId: string, problem: EvidenceFinding['problem']): EvidenceFinding => ({
  threadId,
  seq: null,
  upto: null,
  problem,
});

/** Returns nothing if the thread has no chain. */
async function* entryFindings({
  log,
  threadId,
  heads,
  moves,
  thread,
  tenantId,
}: Verified): AsyncGenerator<EvidenceFinding, Walked | undefined, void> {
  const of = (problem: EvidenceFinding['problem'], seq: number, upto = seq): EvidenceFinding => ({
    threadId,
    seq,
    upto,
    problem,
  });
  const chained = thread?.chained === true || heads.length > 0;
  let before: string | null = chainStart(threadId);
  let next = 0;
  let nextHead = 0;
  /** The first entry that no head has confirmed. */
  let unconfirmed = 0;
  let replaced = false;
  let otherTenant = false;
  for await (const e of log.entries()) {
    if (!chained && next === 0 && e.hash === null) {
      yield ofThread(threadId, 'not_chained');
      return undefined;
    }
    const seq = Number(e.seq);
    if (seq < next) {
      yield of('added', seq);
      continue;
    }
    if (seq > next) {
      moves.lost(threadId, tenantId, next, before);
      yield of('missing', next, seq - 1);
      before = null;
    }
    if (e.hash === null) yield of('unsealed', seq);
    else if (before === null) yield of('unproven', seq);
    else if (entryHash(before, e) === e.hash) otherTenant ||= thread !== undefined && e.tenant_id !== thread.tenantId;
    else {
      moves.stranger(threadId, seq);
      yield of('altered', seq);
    }
    if (!(await hasContents(log, e))) yield of('content_altered', seq);
    if (seq === 0 && heads.length > 0) {
      replaced = heads.some(({ first }) => first !== e.hash);
      unconfirmed = 1;
    }
    for (; nextHead < heads.length && heads[nextHead]!.seq <= seq; nextHead += 1) {
      const head = heads[nextHead]!;
      // a missing entry was reported above
      if (head.seq < seq || replaced) continue;
      if (head.hash !== e.hash) yield of('rewritten', Math.min(unconfirmed, seq), seq);
      unconfirmed = seq + 1;
    }
    before = e.hash;
    next = seq + 1;
  }

  return { next, before, replaced, otherTenant };
}

async function* threadFindings(
  { log, threadId, heads, moves, thread, tenantId }: Verified,
  { next, before, replaced, otherTenant }: Walked,
): AsyncGenerator<EvidenceFinding, void, void> {
  const after = await log.thread();
  const stands = after !== undefined && !after.erased;
  const last = next - 1;
  const lastHead = heads.at(-1)?.seq ?? -1;
  const of = (problem: EvidenceFinding['problem'], seq: number, upto: number): EvidenceFinding => ({
    threadId,
    seq,
    upto,
    problem,
  });
  if (replaced) yield of('replaced', 0, Math.min(last, lastHead));
  const expected = Math.max(stands ? (thread?.rev ?? 0) - 1 : -1, lastHead);
  if (last < expected) {
    moves.lost(threadId, tenantId, next, before);
    // otherwise the thread is gone, which is reported below
    if (stands || last >= 0) yield of('cut_off', next, expected);
  }
  if (stands && after.rev <= last) yield of('added', after.rev, last);

  if (!after) yield ofThread(threadId, heads.length > 0 || last >= 0 ? 'removed' : 'not_found');
  else if (after.erased) yield ofThread(threadId, thread?.erased && last >= 0 ? 'falsely_erased' : 'erased');
  else if (!after.chained) yield ofThread(threadId, heads.length > 0 || last >= 0 ? 'unchained' : 'not_chained');
  if (after && (otherTenant || heads.some((head) => head.tenantId !== after.tenantId)))
    yield ofThread(threadId, 'tenant_changed');
}

async function hasContents(log: StoredLog, entry: StoredEntry): Promise<boolean> {
  for (const id of quotedContents(entry)) if (!(await log.hasContent(id))) return false;
  return true;
}

/** Merges findings of the same kind about consecutive entries. */
async function* inRanges(findings: AsyncIterable<EvidenceFinding>): AsyncGenerator<EvidenceFinding, void, void> {
  let open: EvidenceFinding | undefined;
  for await (const finding of findings) {
    if (open && open.problem === finding.problem && open.upto !== null && finding.seq === open.upto + 1) {
      open = { ...open, upto: finding.upto };
      continue;
    }
    if (open) yield open;
    open = finding;
  }
  if (open) yield open;
}

interface Quoting {
  refs?: { contents?: unknown } | null;
}

/**
 * The ids of the large texts that an entry quotes: a message quotes them itself, an operation in the context that it
 * sets. Entries of other kinds do not count: callers decide what is in them, and it may look like either.
 */
function quotedContents({ kind, refs, payload }: StoredEntry): string[] {
  if (kind === 'ai_message' && refs?.includes('"contents"')) return idsOf({ refs: parseJson(refs) as Quoting['refs'] });
  if (kind !== 'ai_context_operation' || !payload.includes('"contents"')) return [];
  const { operation } = parseJson(payload) as { operation?: { result_context?: { entries?: (Quoting | null)[] } } };
  const entries = operation?.result_context?.entries;
  return Array.isArray(entries) ? entries.flatMap(idsOf) : [];
}

const idsOf = (quoting: Quoting | null): string[] => {
  const contents = quoting?.refs?.contents;
  return Array.isArray(contents) ? contents.map((each: { id?: unknown } | null) => String(each?.id)) : [];
};
