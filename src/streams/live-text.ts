import type { RunEvent } from '../store/read-events.ts';
import type { Piece } from './piece.ts';

/** An answer under way, as far as it has arrived in this process. */
export interface LiveAnswer {
  runId: string;
  callId: string;
  text: string;
  thinking: string;
  /** The trace was read since the first piece came: what precedes the answer can be told before it. */
  placed: boolean;
}

const rememberedEnds = 64;

/** The answers under way in a thread, put together from pieces that may overlap, repeat, be lost, or come too late. */
export class LiveText {
  readonly answers = new Map<string, LiveAnswer>();
  /** Calls and runs that have ended lately: stragglers among their pieces are dropped. */
  readonly #ended = new Set<string>();

  /** `missing`: text before this piece was lost; `new`: the answer is not placed yet; undefined: nothing came of it. */
  add(piece: Piece): 'missing' | 'new' | 'more' | undefined {
    const { run_id: runId, llm_call_id: callId } = piece;
    if (runId === undefined || callId === undefined) return undefined;
    if (this.#ended.has(callId) || this.#ended.has(runId)) return undefined;
    let answer = this.answers.get(callId);
    if (!answer) this.answers.set(callId, (answer = { runId, callId, text: '', thinking: '', placed: false }));
    let grown = false;
    for (const part of ['text', 'thinking'] as const) {
      const [offset, more] = piece[part] ?? [0, ''];
      const have = answer[part].length;
      if (offset > have) return 'missing';
      if (offset + more.length <= have) continue;
      answer[part] += more.slice(have - offset);
      grown = true;
    }
    return grown ? (answer.placed ? 'more' : 'new') : undefined;
  }

  /** An event of the trace: an answer that has ended is no longer under way. */
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
