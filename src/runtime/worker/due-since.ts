import type { Database } from '../../postgres/pool.ts';
import { findOldestDue } from '../../store/run/find-oldest-due.ts';

/** A run that is stored long after the time it bears, or after the clock went back, may be missed for this long, in ms. */
const validMs = 15_000;

/** From when on a sweep has to look for runs that are queued or running: asked for once in a while, not by each of them. */
export function dueSince(db: Database): () => Promise<string> {
  let asked: { at: number; since: Promise<string> } | undefined;
  return () => {
    if (asked && performance.now() - asked.at < validMs) return asked.since;
    const since = findOldestDue(db);
    const own = { at: performance.now(), since };
    asked = own;
    since.catch(() => {
      if (asked === own) asked = undefined;
    });
    return since;
  };
}
