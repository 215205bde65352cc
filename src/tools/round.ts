import { setMaxListeners } from 'node:events';
import pLimit from 'p-limit';
import type { ToolCall } from '../context/message.ts';
import type { ToolOutcome } from './execute.ts';

export interface RoundOptions {
  /** Calls at work at once, from 1; default 4. */
  concurrency?: number;
  /** Awaited as each outcome comes, with the position of its call; a call keeps its slot until then. */
  onOutcome: (index: number, outcome: ToolOutcome) => Promise<void>;
  /** Ends the round from outside: cancel, lost lease. */
  signal?: AbortSignal;
}

/**
 * Runs the calls of one model turn, started in call order, and returns their outcomes in call order.
 *
 * The first rejection of `run` or `onOutcome`, or the abort of `signal`, ends the round with that reason: the signal
 * given to `run` aborts, no further call starts, no further outcome is reported, and what still runs is not waited for.
 */
export async function runToolRound(
  calls: readonly ToolCall[],
  run: (call: ToolCall, index: number, signal: AbortSignal) => Promise<ToolOutcome>,
  { concurrency = 4, onOutcome, signal: outer }: RoundOptions,
): Promise<ToolOutcome[]> {
  outer?.throwIfAborted();
  if (calls.length === 1 && outer) {
    // the usual round: nothing to limit, and nobody else to stop
    const outcome = await run(calls[0]!, 0, outer);
    outer.throwIfAborted();
    await onOutcome(0, outcome);
    return [outcome];
  }
  const controller = new AbortController();
  const { signal } = controller;
  // Every call at work listens; Node warns of a leak from the eleventh on.
  setMaxListeners(0, signal);
  const limit = pLimit(concurrency);

  const work = async (call: ToolCall, index: number): Promise<ToolOutcome> => {
    signal.throwIfAborted();
    try {
      const outcome = await run(call, index, signal);
      signal.throwIfAborted();
      await onOutcome(index, outcome);
      return outcome;
    } catch (error) {
      controller.abort(error);
      throw error;
    }
  };

  const onAbort = () => controller.abort(outer?.reason);
  outer?.addEventListener('abort', onAbort);
  try {
    // The race answers for a `run` that ignores its signal.
    const ended = new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    return await Promise.race([Promise.all(calls.map((call, index) => limit(work, call, index))), ended]);
  } finally {
    outer?.removeEventListener('abort', onAbort);
  }
}
