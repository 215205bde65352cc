import { assertId } from '../ids.ts';
import type { Database } from '../postgres/pool.ts';
import { readChained, readEntryHash, readHeads } from '../store/evidence/read-heads.ts';
import { verifyThread, type Finding } from '../store/evidence/verify-thread.ts';
import { headSigner, headVerifier, type SignedHead } from './signed-head.ts';

export interface Evidence {
  /**
   * Compares the entries of a thread with its chain; nothing is wrong where the list is empty.
   *
   * @throws LanefoldError `invalid_id`
   */
  verify(threadId: string): Promise<Finding[]>;
  /** The same for every thread with a chain. */
  verifyAll(): AsyncGenerator<Finding, void, void>;
  /** The heads of all threads with a chain, signed with an Ed25519 private key (PEM). Keep them where nobody can change them. */
  heads(key: string): AsyncGenerator<SignedHead, void, void>;
  /**
   * Compares heads taken before with the database: finds entries that were cut off, or altered together with their chain.
   *
   * @throws LanefoldError `invalid_input` for a head that is not signed by this key
   */
  verifyHeads(heads: Iterable<unknown>, key: string): AsyncGenerator<Finding, void, void>;
}

const pageSize = 500;

export function evidenceOf(db: Database): Evidence {
  const verify = async (threadId: string): Promise<Finding[]> => {
    assertId(threadId, 'The thread id');
    return verifyThread(db, threadId);
  };
  return {
    verify,
    async *verifyAll() {
      for (let after = ''; ;) {
        const ids = await readChained(db, after, pageSize);
        for (const id of ids) yield* await verifyThread(db, id);
        if (ids.length < pageSize) return;
        after = ids.at(-1)!;
      }
    },
    async *heads(key) {
      const sign = headSigner(key);
      for (let after = ''; ;) {
        const heads = await readHeads(db, after, pageSize);
        yield* heads.map(sign);
        if (heads.length < pageSize) return;
        after = heads.at(-1)!.threadId;
      }
    },
    async *verifyHeads(given, key) {
      const check = headVerifier(key);
      /** Up to where each thread is as it was. */
      const good = new Map<string, number>();
      for (const { threadId, seq, hash } of [...given].map(check).sort((a, b) => a.seq - b.seq)) {
        const { hash: found, last } = await readEntryHash(db, threadId, seq);
        if (found === hash) {
          good.set(threadId, seq);
          continue;
        }
        const [first] = await verify(threadId);
        if (first?.problem === 'erased' || first?.problem === 'not_found') {
          yield first;
          continue;
        }
        if (last < seq) yield { threadId, seq: last + 1, upto: seq, problem: 'cut_off' };
        else yield { threadId, seq: (good.get(threadId) ?? -1) + 1, upto: seq, problem: 'differs_from_head' };
      }
    },
  };
}
