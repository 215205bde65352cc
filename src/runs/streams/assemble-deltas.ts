import type { RunEvent } from '../../database/store/trace/read-events.ts';
import type { Delta } from './delta.ts';

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
