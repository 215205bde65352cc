import type { JsonObject } from '../context/message.ts';
import type { RunEvent } from '../store/trace/read-events.ts';
import { isTerminal, type LiveAnswer } from './assemble-deltas.ts';
import type { StreamItem } from './stream-item.ts';

interface Offsets {
  runId: string;
  text: number;
  thinking: number;
}

const rememberedEnds = 64;

/**
 * How far one stream has delivered each answer. Stores offsets, not text: a slow reader costs nothing, and gets the
 * rest in one delta.
 */
export class AnswerCursor {
  readonly #offsets = new Map<string, Offsets>();
  readonly #done = new Set<string>();

  /** `head`: the last event when the stream was opened. Calls that began before it start with a snapshot. */
  constructor(readonly head: number) {}

  /** The items due before an event: the rest of the answer it completes, which is `entry`. */
  *before({ kind, eventSeq, runId, data }: RunEvent, entry: JsonObject | undefined): Generator<StreamItem> {
    const callId = data['call_id'] as string;
    if (kind === 'llm_started' && eventSeq > this.head) this.#offsets.set(callId, { runId, text: 0, thinking: 0 });
    if (kind === 'llm_completed') {
      const { content = '', thinking = '' } = entry ?? {};
      if (typeof content === 'string' && typeof thinking === 'string')
        yield* this.more({ runId, callId, text: content, thinking });
    }
    if (kind === 'llm_completed' || kind === 'llm_retry' || kind === 'llm_lost') this.#end(callId);
    if (isTerminal(kind)) for (const [id, call] of this.#offsets) if (call.runId === runId) this.#end(id);
  }

  /** What this stream has not delivered yet of an answer. */
  *more({ runId, callId, text, thinking }: Omit<LiveAnswer, 'placed'>): Generator<StreamItem> {
    if (this.#done.has(callId) || (text === '' && thinking === '')) return;
    const at = this.#offsets.get(callId);
    this.#offsets.set(callId, { runId, text: text.length, thinking: thinking.length });
    const call = { runId, llmCallId: callId };
    if (!at) yield { type: 'llm_snapshot', ...call, text, thinking };
    if (at && thinking.length > at.thinking)
      yield { type: 'llm_delta', ...call, offset: at.thinking, thinking: thinking.slice(at.thinking) };
    if (at && text.length > at.text) yield { type: 'llm_delta', ...call, offset: at.text, text: text.slice(at.text) };
  }

  #end(callId: string): void {
    this.#offsets.delete(callId);
    this.#done.add(callId);
    if (this.#done.size > rememberedEnds) this.#done.delete(this.#done.values().next().value!);
  }
}
