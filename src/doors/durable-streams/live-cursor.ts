/** Cursors count intervals since then, as the protocol proposes. */
const epochMs = Date.UTC(2024, 9, 9);
const intervalMs = 20_000;
/** A client that is ahead of the interval gets a cursor up to an hour later. */
const maxJumps = 180;

/**
 * The cursor of a live response: caches use it to serve waiting clients together, and it changes so that they do not serve
 * the same response forever. Always above the one that the client has.
 */
export function liveCursor(given: string | undefined, nowMs = Date.now()): string {
  const current = Math.floor((nowMs - epochMs) / intervalMs);
  const had = given !== undefined && /^\d{1,15}$/.test(given) ? Number(given) : -1;
  return String(had < current ? current : had + 1 + Math.floor(Math.random() * maxJumps));
}
