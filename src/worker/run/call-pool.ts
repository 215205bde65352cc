import pLimit from 'p-limit';
import type { StrategyEvent, PromptedCall } from '../../agent/strategies/machine.ts';
import { onAbort } from '../../base/common/on-abort.ts';

/** Makes one call; must reject once the signal aborts. */
type Call = (call: PromptedCall, signal: AbortSignal) => Promise<StrategyEvent>;

interface UnderWay {
  controller: AbortController;
  outcome: Promise<{ callId: string; event: StrategyEvent }>;
  /** Set once the call has an outcome. */
  event?: StrategyEvent;
}

/**
 * The concurrent model calls of a strategy. They keep running while the strategy decides on the answer to one of them.
 */
export class CallPool {
  readonly #call: Call;
  readonly #underWay = new Map<string, UnderWay>();
  #limit: ReturnType<typeof pLimit> | undefined;

  constructor(call: Call) {
    this.#call = call;
  }

  /**
   * Starts the `calls` that are not running yet, in order and at most `limit` at a time, aborts all other calls, and
   * returns the next outcome. Rejects when a call rejects, or with the reason of `signal`.
   */
  async next(calls: readonly PromptedCall[], limit: number, signal: AbortSignal): Promise<StrategyEvent> {
    signal.throwIfAborted();
    const wanted = new Set(calls.map((call) => call.callId));
    for (const callId of this.#underWay.keys()) if (!wanted.has(callId)) this.#abort(callId);
    this.#limit ??= pLimit(limit);
    for (const call of calls) if (!this.#underWay.has(call.callId)) this.#start(call);
    // an answer goes before a call that failed, which would end the run here and lose the answer
    return this.arrived(calls) ?? this.#first(signal);
  }

  /** The outcome of one of `calls`, if one has already arrived; the pool forgets that call. */
  arrived(calls: readonly PromptedCall[]): StrategyEvent | undefined {
    for (const { callId } of calls) {
      const event = this.#underWay.get(callId)?.event;
      if (!event) continue;
      this.#underWay.delete(callId);
      return event;
    }
    return undefined;
  }

  /** Aborts all running calls. */
  close(): void {
    for (const callId of [...this.#underWay.keys()]) this.#abort(callId);
  }

  async #first(signal: AbortSignal): Promise<StrategyEvent> {
    let unlisten!: () => void;
    const stopped = new Promise<never>((_, reject) => {
      unlisten = onAbort(signal, () => reject(signal.reason as Error));
    });
    try {
      const { callId, event } = await Promise.race([
        stopped,
        ...[...this.#underWay.values()].map(({ outcome }) => outcome),
      ]);
      this.#underWay.delete(callId);
      return event;
    } finally {
      unlisten();
    }
  }

  #start(call: PromptedCall): void {
    const controller = new AbortController();
    const underWay = { controller } as UnderWay;
    const outcome = this.#limit!(async () => {
      controller.signal.throwIfAborted();
      return { callId: call.callId, event: await this.#call(call, controller.signal) };
    });
    underWay.outcome = outcome;
    // `next` reports a failure; until it is called, nothing may be awaiting this promise
    outcome.then(
      ({ event }) => (underWay.event = event),
      () => {},
    );
    this.#underWay.set(call.callId, underWay);
  }

  #abort(callId: string): void {
    this.#underWay.get(callId)?.controller.abort(new Error('The strategy no longer needs the answer.'));
    this.#underWay.delete(callId);
  }
}
