import { pseudonym } from '../../base/checks/ids.ts';

/**
 * Workers publish this while the model writes an answer: new text and new thinking, each with its offset in UTF-16
 * units, as `string.length` counts them. Without a call it only announces that the thread has something new.
 */
export interface Delta {
  run_id?: string;
  llm_call_id?: string;
  text?: [offset: number, added: string];
  thinking?: [offset: number, added: string];
}

/** The channel on which processes tell workers which threads have readers: see `toAnnouncements`. */
export const readersChannel = 'lanefold_readers';

/** PostgreSQL takes payloads below 8,000 bytes. */
const maxPayloadBytes = 7_900;

/**
 * Payloads for the channel: `+` for new readers, who need the text so far, or `=` for known ones; then the pseudonyms
 * of their threads.
 */
export function toAnnouncements(sign: '+' | '=', threadIds: Iterable<string>): string[] {
  const payloads: string[] = [];
  for (const name of Array.from(threadIds, (id) => pseudonym(id))) {
    const last = payloads.at(-1);
    if (last !== undefined && last.length + 1 + name.length <= maxPayloadBytes)
      payloads[payloads.length - 1] = `${last} ${name}`;
    else payloads.push(sign + name);
  }
  return payloads;
}

/** How often readers are announced again, and how long an announcement is valid. */
export const announceMs = 2_000;
export const announcedForMs = 3 * announceMs;
