import type { ThreadRelay } from '../queue/relay.ts';
import { cleanText } from '../text.ts';
import { announcedForMs, type Piece } from './piece.ts';

/** What a model has said so far in a call that is under way. */
export interface AnswerSoFar {
  text: string;
  thinking: string;
}

interface LiveCall {
  threadId: string;
  runId: string;
  callId: string;
  peek: () => AnswerSoFar;
  /** Offsets up to which it was told. */
  text: number;
  thinking: number;
  sending: boolean;
}

/** Between two pieces of an answer. */
const tickMs = 75;
/** Characters of text or thinking in a message. */
const longestPiece = 131_072;
/** Messages under way at once: a relay that does not answer must not gather more. */
const maxInFlight = 200;

/**
 * The model calls under way in this process, for those who read along. A call nobody reads costs an entry in a map: its
 * text is looked at only while its thread has readers. Never rejects and never makes a run wait.
 */
export class LiveCalls {
  readonly #relay: ThreadRelay;
  readonly #calls = new Map<string, Set<LiveCall>>();
  /** Until when each thread is known to have readers. */
  readonly #readers = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;
  #inFlight = 0;

  constructor(relay: ThreadRelay) {
    this.#relay = relay;
  }

  /** A model call has begun. Call what is returned when it is over. */
  open(threadId: string, runId: string, callId: string, peek: () => AnswerSoFar): () => void {
    const call: LiveCall = { threadId, runId, callId, peek, text: 0, thinking: 0, sending: false };
    const calls = this.#calls.get(threadId);
    if (calls) calls.add(call);
    else this.#calls.set(threadId, new Set([call]));
    this.#schedule();
    return () => {
      // what was said last goes out before the commit that follows, without being waited for
      if (this.#hasReaders(threadId)) void this.#send(call);
      const left = this.#calls.get(threadId);
      left?.delete(call);
      if (left?.size === 0) this.#calls.delete(threadId);
    };
  }

  /** Something of a thread was committed: its readers need not wait for their next poll. */
  committed(threadId: string): void {
    if (this.#hasReaders(threadId)) this.#publish(threadId, {}).catch(() => {});
  }

  /** Takes an announcement of readers. */
  announced(payload: string | undefined): void {
    if (!payload) return;
    const until = performance.now() + announcedForMs;
    for (const threadId of payload.slice(1).split(' ')) {
      const known = this.#hasReaders(threadId);
      this.#readers.set(threadId, until);
      if (known && payload.startsWith('=')) continue;
      // who comes in the middle gets the text from its beginning; the others skip what they have
      for (const call of this.#calls.get(threadId) ?? []) call.text = call.thinking = 0;
    }
    this.#schedule();
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#readers.clear();
  }

  #hasReaders(threadId: string): boolean {
    if (this.#readers.size === 0) return false;
    const until = this.#readers.get(threadId);
    return until !== undefined && performance.now() < until;
  }

  /** Ticks only while somebody reads. */
  #schedule(): void {
    if (this.#timer || this.#readers.size === 0) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      const now = performance.now();
      for (const [threadId, until] of this.#readers) {
        if (now >= until) this.#readers.delete(threadId);
        else for (const call of this.#calls.get(threadId) ?? []) void this.#send(call);
      }
      this.#schedule();
    }, tickMs);
    this.#timer.unref();
  }

  /** Sends what is new of a call, one message after the other. */
  async #send(call: LiveCall): Promise<void> {
    if (call.sending) return;
    call.sending = true;
    for (;;) {
      const { text, thinking } = call.peek();
      const at = { text: call.text, thinking: call.thinking };
      const more = { text: cut(text, at.text), thinking: cut(thinking, at.thinking) };
      if (more.text === '' && more.thinking === '') break;
      call.text += more.text.length;
      call.thinking += more.thinking.length;
      try {
        await this.#publish(call.threadId, {
          run_id: call.runId,
          llm_call_id: call.callId,
          ...(more.text === '' ? {} : { text: [at.text, more.text] }),
          ...(more.thinking === '' ? {} : { thinking: [at.thinking, more.thinking] }),
        });
      } catch {
        // told again at the next tick: readers skip by the offsets what they have
        call.text = Math.min(call.text, at.text);
        call.thinking = Math.min(call.thinking, at.thinking);
        break;
      }
    }
    call.sending = false;
  }

  async #publish(threadId: string, piece: Piece): Promise<void> {
    if (this.#inFlight >= maxInFlight) throw new Error('too many messages under way');
    this.#inFlight += 1;
    try {
      await this.#relay.publish(threadId, piece);
    } finally {
      this.#inFlight -= 1;
    }
  }
}

/** The next piece of a text: storable, of bounded length, no surrogate pair cut in two. */
function cut(text: string, from: number): string {
  if (text.length <= from) return '';
  let to = Math.min(text.length, from + longestPiece);
  const last = text.charCodeAt(to - 1);
  if (last >= 0xd800 && last <= 0xdbff) to -= 1;
  return cleanText(text.slice(from, to));
}
