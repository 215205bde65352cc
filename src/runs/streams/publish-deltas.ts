import type { ThreadRelay } from '../queue/relay.ts';
import { pseudonym } from '../../base/checks/ids.ts';
import { cleanText } from '../../base/checks/values.ts';
import { announcedForMs, type Delta } from './deltas.ts';
import { after, type Timer } from '../../base/common/timer.ts';

/** The answer so far of a running model call. */
export interface AnswerSoFar {
  text: string;
  thinking: string;
}

interface LiveCall {
  threadId: string;
  runId: string;
  callId: string;
  peek: () => AnswerSoFar;
  /** Offsets up to which it was published. */
  text: number;
  thinking: number;
  sending: boolean;
  /** A new reader needs the text from its beginning. */
  again: boolean;
  /** When it was last sent from its beginning. */
  startedAt: number;
}

/** What readers have not been told of a thread yet. */
interface News {
  /** Calls that have ended, whose last text may be unpublished. */
  ended: LiveCall[];
  /** A step was committed since: its events bring the text of those calls. */
  committed: boolean;
  timer: Timer;
}

/** How long news wait for more: steps come in quick succession, and telling of each one would delay the next. */
const soonMs = 10;
/** Pause between two deltas of an answer. */
const tickMs = 75;
/** Characters of text or thinking per message. */
const maxDeltaChars = 131_072;
/** Limit on remembered threads with readers: any role of the database can announce some. */
const maxThreads = 10_000;
/** A text is resent from its beginning at most this often, however many readers are announced. */
const againMs = 500;
/** Limit on messages in flight, so that they do not pile up behind a relay that does not answer. */
const maxInFlight = 200;

/**
 * Publishes the model calls running in this process to live readers. A call without readers costs one map entry: its
 * text is read only while its thread has readers. Never rejects and never makes a run wait.
 */
export class LiveCalls {
  readonly #relay: ThreadRelay;
  /** Calls by their thread's pseudonym, which announcements use too. */
  readonly #calls = new Map<string, Set<LiveCall>>();
  /** When the readers of each thread expire, by its pseudonym. */
  readonly #readers = new Map<string, number>();
  /** By the id of the thread. */
  readonly #news = new Map<string, News>();
  #timer: Timer | undefined;
  #inFlight = 0;

  constructor(relay: ThreadRelay) {
    this.#relay = relay;
  }

  /** Registers a model call. Call the returned function when it ends. */
  open(threadId: string, runId: string, callId: string, peek: () => AnswerSoFar): () => void {
    const call: LiveCall = {
      threadId,
      runId,
      callId,
      peek,
      text: 0,
      thinking: 0,
      sending: false,
      again: false,
      startedAt: -Infinity,
    };
    const thread = pseudonym(threadId);
    const calls = this.#calls.get(thread);
    if (calls) calls.add(call);
    else this.#calls.set(thread, new Set([call]));
    this.#schedule();
    return () => {
      if (this.#hasReaders(thread)) this.#soon(threadId).ended.push(call);
      const left = this.#calls.get(thread);
      left?.delete(call);
      if (left?.size === 0) this.#calls.delete(thread);
    };
  }

  /** Tells a thread's readers that a step was committed, so that they need not wait for their next poll. @param last the run has left */
  committed(threadId: string, { last = false } = {}): void {
    if (this.#readers.size === 0 || !this.#hasReaders(pseudonym(threadId))) return;
    this.#soon(threadId).committed = true;
    if (last) this.#tell(threadId);
  }

  #soon(threadId: string): News {
    let news = this.#news.get(threadId);
    if (!news) {
      const timer = after(soonMs, () => this.#tell(threadId), { ref: false });
      this.#news.set(threadId, (news = { ended: [], committed: false, timer }));
    }
    return news;
  }

  #tell(threadId: string): void {
    const { ended, committed, timer } = this.#news.get(threadId)!;
    this.#news.delete(threadId);
    timer.cancel();
    if (committed) this.#publish(threadId, {}).catch(() => {});
    else for (const call of ended) void this.#send(call);
  }

  /** Handles an announcement of readers. */
  announced(payload: string | undefined): void {
    if (!payload) return;
    const until = performance.now() + announcedForMs;
    for (const thread of payload.slice(1).split(' ')) {
      const known = this.#hasReaders(thread);
      if (!known && this.#readers.size >= maxThreads && !this.#readers.has(thread)) continue;
      this.#readers.set(thread, until);
      if (known && payload.startsWith('=')) continue;
      // a late reader needs the text from its beginning; the others skip the part they have
      for (const call of this.#calls.get(thread) ?? []) call.again = true;
    }
    this.#schedule();
  }

  /** Number of threads announced as having readers. */
  get announcedThreads(): number {
    return this.#readers.size;
  }

  close(): void {
    this.#timer?.cancel();
    for (const { timer } of this.#news.values()) timer.cancel();
    this.#news.clear();
    this.#readers.clear();
  }

  #hasReaders(thread: string): boolean {
    const until = this.#readers.get(thread);
    return until !== undefined && performance.now() < until;
  }

  /** Ticks only while there are readers. */
  #schedule(): void {
    if (this.#timer || this.#readers.size === 0) return;
    this.#timer = after(
      tickMs,
      () => {
        this.#timer = undefined;
        const now = performance.now();
        for (const [thread, until] of this.#readers) {
          if (now >= until) this.#readers.delete(thread);
          else for (const call of this.#calls.get(thread) ?? []) void this.#send(call);
        }
        this.#schedule();
      },
      { ref: false },
    );
  }

  /** Publishes the new text of a call, one message at a time. */
  async #send(call: LiveCall): Promise<void> {
    if (call.sending) return;
    call.sending = true;
    this.#startAgain(call);
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
        // resent at the next tick; readers skip the part they have by its offset
        call.text = Math.min(call.text, at.text);
        call.thinking = Math.min(call.thinking, at.thinking);
        break;
      }
    }
    call.sending = false;
  }

  #startAgain(call: LiveCall): void {
    const now = performance.now();
    if (!call.again || now - call.startedAt < againMs) return;
    call.again = false;
    call.startedAt = now;
    call.text = call.thinking = 0;
  }

  async #publish(threadId: string, delta: Delta): Promise<void> {
    if (this.#inFlight >= maxInFlight) throw new Error('too many messages in flight');
    this.#inFlight += 1;
    try {
      await this.#relay.publish(threadId, delta);
    } finally {
      this.#inFlight -= 1;
    }
  }
}

/** The next chunk of a text: storable, of bounded length, no surrogate pair split. */
function cut(text: string, from: number): string {
  if (text.length <= from) return '';
  let to = Math.min(text.length, from + maxDeltaChars);
  const last = text.charCodeAt(to - 1);
  if (last >= 0xd800 && last <= 0xdbff) to -= 1;
  return cleanText(text.slice(from, to));
}
