import { setMaxListeners } from 'node:events';
import pLimit from 'p-limit';
import type { ToolCall } from '../context/message.ts';
import type { ToolOutcome } from './outcome.ts';
import { onAbort } from '../../base/common/timer.ts';

export interface RoundOptions {
  /** Maximum concurrent calls, at least 1; default 4. */
  concurrency?: number;
  /** Awaited for each outcome, with the index of its call; the call keeps its slot until this resolves. */
  onOutcome: (index: number, outcome: ToolOutcome) => Promise<void>;
  /** Ends the round early: on cancel or a lost lease. */
  signal?: AbortSignal;
}

/**
 * Runs the calls of one model turn, starting them in call order, and returns their outcomes in call order.
 *
 * The first rejection of `run` or `onOutcome`, or an abort of `signal`, ends the round with that reason: the signal
 * passed to `run` aborts, no further call starts, no further outcome is reported, and running calls are abandoned.
 */
export async function runToolRound(
  calls: readonly ToolCall[],
  run: (call: ToolCall, index: number, signal: AbortSignal) => Promise<ToolOutcome>,
  { concurrency = 4, onOutcome, signal: outer }: RoundOptions,
): Promise<ToolOutcome[]> {
  outer?.throwIfAborted();
  if (calls.length === 1 && outer) {
    // Most rounds have one call: there is nothing to limit and no other call to stop.
    const outcome = await run(calls[0]!, 0, outer);
    outer.throwIfAborted();
    await onOutcome(0, outcome);
    return [outcome];
  }
  const controller = new AbortController();
  const { signal } = controller;
  // Every running call adds a listener; Node would warn of a leak at the eleventh.
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

  const unlisten = onAbort(outer, () => controller.abort(outer?.reason));
  try {
    // The race ends the round even if a `run` ignores its signal.
    const ended = new Promise<never>((_, reject) => onAbort(signal, () => reject(signal.reason)));
    return await Promise.race([Promise.all(calls.map((call, index) => limit(work, call, index))), ended]);
  } finally {
    unlisten();
  }
}
