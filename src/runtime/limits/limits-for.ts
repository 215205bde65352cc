import type { Usage } from '../../context/message.ts';
import type { Counting } from '../../models/counting/counting.ts';
import { spentOf, type SpentByModel } from '../../store/run/spent.ts';
import type { LimitGate } from './gate.ts';
import { RunLimits, type LimitedRun } from './run-limits.ts';

/** What a run has used by now. */
export interface RunUse {
  model: string;
  iteration: number;
  usage?: Usage | null | undefined;
  otherUsage?: Record<string, Usage> | null | undefined;
}

/** Prices are those of the day the run was accepted, as in its cost. */
export const spentBy = ({ createdAt }: LimitedRun, { model, iteration, usage, otherUsage }: RunUse): SpentByModel[] =>
  spentOf({ model, createdAt: new Date(createdAt), iteration, usage: usage ?? null, otherUsage: otherUsage ?? null });

/** The limits of a run that has used this much when it was claimed. */
export function limitsFor(gate: LimitGate, counting: Counting, run: LimitedRun, used: RunUse): RunLimits {
  const at = new Date(run.createdAt);
  const price: ConstructorParameters<typeof RunLimits>[2] = (model, tokens) =>
    counting.priceOf(model, { calls: 1, cachedTokens: 0, writtenTokens: 0, ...tokens }, at);
  return new RunLimits(gate, run, price, spentBy(run, used));
}
