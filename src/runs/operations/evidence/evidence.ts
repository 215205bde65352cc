import { assertId } from '../../../base/checks/ids.ts';
import type { Database } from '../../../database/postgres/pool.ts';
import { refuseUnknownKeys, type KeysOf } from '../../../base/checks/unknown-keys.ts';
import { assertTables } from '../../../database/store/evidence/assert-tables.ts';
import { readChained, readHeads, type Head } from '../../../database/store/evidence/read-log.ts';
import type { EvidenceFinding } from './finding.ts';
import { Moves } from './moves.ts';
import { headSigner, headVerifier, type SignedHead } from './signed-head.ts';
import { verifyThread } from './verify-thread.ts';

/** Heads that `heads` returned earlier, and the Ed25519 key that signed them: PEM, public or private. */
export interface KnownHeads {
  heads: Iterable<unknown> | AsyncIterable<unknown>;
  key: string;
}

/**
 * Hashes are computed in this process, from the columns of the tables: the database is trusted only to read and send
 * its rows.
 */
export interface TamperEvidence {
  /**
   * Compares the entries of a thread with its chain, and with its heads among those known. Returns an empty list if
   * every entry is as it was written.
   *
   * @throws LanefoldError `invalid_id`, `log_replaced`, `invalid_input` for a head that is not signed by the key
   */
  verify(threadId: string, known?: KnownHeads): Promise<EvidenceFinding[]>;
  /**
   * Verifies every thread that has a chain or a known head. Returns how many threads these are.
   *
   * @throws LanefoldError `log_replaced`, `invalid_input` for a head that is not signed by the key
   */
  verifyAll(known?: KnownHeads): AsyncGenerator<EvidenceFinding, number, void>;
  /**
   * The heads of all threads with a chain, signed with an Ed25519 private key (PEM). Keep them where the administrators
   * of the database cannot change them.
   *
   * @throws LanefoldError `log_replaced`, `invalid_input`
   */
  heads(key: string): AsyncGenerator<SignedHead, void, void>;
}

const pageSize = 500;

const knownKeys: KeysOf<KnownHeads> = { heads: true, key: true };

export const evidenceOf = (db: Database): TamperEvidence => ({
  async verify(threadId, known) {
    assertId(threadId, 'The thread id');
    refuseUnknownKeys('evidence.verify', known, knownKeys);
    const heads = await headsByThread(known, db.tenant);
    await assertTables(db);
    const found: EvidenceFinding[] = [];
    for await (const finding of verifyThread(db, threadId, heads.get(threadId) ?? [], new Moves())) found.push(finding);
    return found;
  },
  async *verifyAll(known) {
    refuseUnknownKeys('evidence.verifyAll', known, knownKeys);
    const heads = await headsByThread(known, db.tenant);
    await assertTables(db);
    const moves = new Moves();
    let threads = heads.size;
    for (let after = ''; ;) {
      const ids = await readChained(db, after, pageSize);
      for (const id of ids) {
        if (!heads.has(id)) threads += 1;
        yield* verifyThread(db, id, heads.get(id) ?? [], moves);
        heads.delete(id);
      }
      if (ids.length < pageSize) break;
      after = ids.at(-1)!;
    }
    for (const [id, own] of heads) yield* verifyThread(db, id, own, moves);
    yield* moves.findings(db);
    return threads;
  },
  async *heads(key) {
    const sign = headSigner(key);
    await assertTables(db);
    for (let after = ''; ;) {
      const heads = await readHeads(db, after, pageSize);
      yield* heads.map(sign);
      if (heads.length < pageSize) return;
      after = heads.at(-1)!.threadId;
    }
  },
});

/** This tenant's heads by thread: each once, ordered by seq. */
async function headsByThread(known: KnownHeads | undefined, tenant: string | undefined): Promise<Map<string, Head[]>> {
  const byThread = new Map<string, Map<string, Head>>();
  if (!known) return new Map();
  const check = headVerifier(known.key);
  for await (const given of known.heads) {
    const head = check(given);
    if (tenant !== undefined && head.tenantId !== tenant) continue;
    const own = byThread.get(head.threadId) ?? new Map<string, Head>();
    // exports overlap: a thread that has not changed has the same head in each
    byThread.set(head.threadId, own.set(JSON.stringify([head.seq, head.hash, head.first, head.tenantId]), head));
  }
  return new Map([...byThread].map(([id, own]) => [id, [...own.values()].sort((a, b) => a.seq - b.seq)]));
}
