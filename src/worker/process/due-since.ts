import type { Database } from '../../database/postgres/pool.ts';
import { findOldestDue } from '../../database/store/run/find-oldest-due.ts';

/** A run that is stored long after the time it bears, or after the clock went back, may be missed for this long, in ms. */
const validMs = 15_000;

/** From when on a sweep has to look for runs that are queued or running: asked for once in a while, not by each of them. */
export function dueSince(db: Database): () => Promise<string> {
  let asked: { at: number; since: Promise<string> } | undefined;
  let last: string | undefined;
  const ask = async (): Promise<string> => {
    try {
      last = await findOldestDue(db);
    } catch (error) {
      // an earlier time leaves out no run; without any, sweeps have to wait until the question is answered
      if (last === undefined) {
        asked = undefined;
        throw error;
      }
    }
    return last;
  };
  return () => {
    if (!asked || performance.now() - asked.at >= validMs) asked = { at: performance.now(), since: ask() };
    return asked.since;
  };
}
