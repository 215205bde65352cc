import type { RunEvent } from '../../database/store/trace/types.ts';
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

/** The part of an unfinished answer that has arrived in this process. */
export interface LiveAnswer {
  runId: string;
  callId: string;
  text: string;
  thinking: string;
  /**
   * Whether the trace was read after the first delta arrived, so that everything before the answer can be delivered
   * first.
   */
  placed: boolean;
}

const rememberedEnds = 64;

/** The live answers of a thread, assembled from deltas that may overlap, repeat, get lost, or arrive too late. */
export class LiveText {
  readonly answers = new Map<string, LiveAnswer>();
  /** Calls and runs that ended recently: their late deltas are dropped. */
  readonly #ended = new Set<string>();

  /** `missing`: text before this delta was lost; `new`: the answer is not placed yet; undefined: no change. */
  add(delta: Delta): 'missing' | 'new' | 'more' | undefined {
    const { run_id: runId, llm_call_id: callId } = delta;
    if (runId === undefined || callId === undefined) return undefined;
    if (this.#ended.has(callId) || this.#ended.has(runId)) return undefined;
    let answer = this.answers.get(callId);
    if (!answer) this.answers.set(callId, (answer = { runId, callId, text: '', thinking: '', placed: false }));
    let grown = false;
    for (const part of ['text', 'thinking'] as const) {
      const [offset, more] = delta[part] ?? [0, ''];
      const have = answer[part].length;
      if (offset > have) return 'missing';
      if (offset + more.length <= have) continue;
      answer[part] += more.slice(have - offset);
      grown = true;
    }
    return grown ? (answer.placed ? 'more' : 'new') : undefined;
  }

  /** Drops the answers that an event of the trace ends. */
  pass({ kind, runId, data }: RunEvent): void {
    if (kind === 'llm_completed' || kind === 'llm_retry' || kind === 'llm_lost') this.#end(data['call_id'] as string);
    else if (isTerminal(kind)) {
      for (const answer of [...this.answers.values()]) if (answer.runId === runId) this.#end(answer.callId);
      this.#end(runId);
    }
  }

  #end(id: string): void {
    this.answers.delete(id);
    this.#ended.add(id);
    if (this.#ended.size > rememberedEnds) this.#ended.delete(this.#ended.values().next().value!);
  }
}

export const isTerminal = (kind: string): boolean =>
  kind === 'request_completed' || kind === 'request_failed' || kind === 'request_cancelled';
