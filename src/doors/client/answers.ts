import type { StreamItem } from './sse.ts';

/**
 * Keeps the text of answers in order across connections. A new connection begins an unfinished answer with a snapshot
 * of all its text; of that, only what has not been delivered passes, as a delta.
 */
export class Answers {
  readonly #had = new Map<string, { runId: string; text: number; thinking: number }>();

  *pass(item: StreamItem): Generator<StreamItem, void, void> {
    if (item.type === 'llm_snapshot') yield* this.#missing(item);
    else if (item.type === 'llm_delta') yield* this.#more(item);
    else {
      if (item.type === 'event') this.#end(item.event.kind, item.event.runId, item.event.data['call_id']);
      yield item;
    }
  }

  *#missing(item: StreamItem & { type: 'llm_snapshot' }): Generator<StreamItem, void, void> {
    const { runId, llmCallId, text, thinking } = item;
    const had = this.#had.get(llmCallId);
    this.#had.set(llmCallId, { runId, text: text.length, thinking: thinking.length });
    if (!had || text.length < had.text || thinking.length < had.thinking) return yield item;
    const delta = { type: 'llm_delta', runId, llmCallId } as const;
    if (thinking.length > had.thinking)
      yield { ...delta, offset: had.thinking, thinking: thinking.slice(had.thinking) };
    if (text.length > had.text) yield { ...delta, offset: had.text, text: text.slice(had.text) };
  }

  *#more(item: StreamItem & { type: 'llm_delta' }): Generator<StreamItem, void, void> {
    const { runId, llmCallId, offset } = item;
    const had = this.#had.get(llmCallId) ?? { runId, text: 0, thinking: 0 };
    this.#had.set(llmCallId, had);
    if ('text' in item) had.text = offset + item.text.length;
    else had.thinking = offset + item.thinking.length;
    yield item;
  }

  /** After these, a call has no more text, or starts over. */
  #end(kind: string, runId: string, callId: unknown): void {
    if (kind === 'llm_completed' || kind === 'llm_retry' || kind === 'llm_lost') this.#had.delete(callId as string);
    if (isTerminal(kind)) for (const [id, had] of this.#had) if (had.runId === runId) this.#had.delete(id);
  }
}

/** Whether an event ends its run. */
export const isTerminal = (kind: string): boolean =>
  kind === 'request_completed' || kind === 'request_failed' || kind === 'request_cancelled';
