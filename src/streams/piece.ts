/**
 * What workers tell of an answer while it is written: a piece of its text and one of its thinking, each with the offset
 * at which it stands, in UTF-16 units as `string.length` counts them. Without a call it only says that the thread has
 * something new.
 */
export interface Piece {
  run_id?: string;
  llm_call_id?: string;
  text?: [offset: number, piece: string];
  thinking?: [offset: number, piece: string];
}

/** The channel on which processes with readers tell workers which threads are read: see `toAnnouncements`. */
export const readersChannel = 'lanefold_readers';

/** PostgreSQL takes payloads below 8,000 bytes; ids are ASCII. */
const longestPayload = 7_900;

/** Payloads for the channel: `+` new readers, who need the text so far, or `=` those told before; then thread ids. */
export function toAnnouncements(sign: '+' | '=', threadIds: Iterable<string>): string[] {
  const payloads: string[] = [];
  for (const id of threadIds) {
    const last = payloads.at(-1);
    if (last !== undefined && last.length + 1 + id.length <= longestPayload)
      payloads[payloads.length - 1] = `${last} ${id}`;
    else payloads.push(sign + id);
  }
  return payloads;
}

/** How often readers are announced again, and how long an announcement holds. */
export const announceMs = 2_000;
export const announcedForMs = 3 * announceMs;
