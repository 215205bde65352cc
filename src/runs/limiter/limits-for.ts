import type { Usage } from '../../agent/context/message.ts';
import type { Counting } from '../../agent/models/counting/counting.ts';
import { spentOf, type SpentByModel } from '../../database/store/run/spent.ts';
import type { LimitGate } from './gate.ts';
import { priceAt } from './amounts.ts';
import type { LimitedRun } from './limited-run.ts';
import { RunLimits } from './run-limits.ts';

/** What a run has used by now. */
export interface RunUse {
  model: string;
  iteration: number;
  usage?: Usage | null | undefined;
  otherUsage?: Record<string, Usage> | null | undefined;
}

export const spentBy = (
  { createdAt }: Pick<LimitedRun, 'createdAt'>,
  { model, iteration, usage, otherUsage }: RunUse,
): SpentByModel[] =>
  spentOf({ model, createdAt: new Date(createdAt), iteration, usage: usage ?? null, otherUsage: otherUsage ?? null });

/** The limits of a run that has used this much when it was claimed. */
export function limitsFor(
  gate: LimitGate,
  counting: Pick<Counting, 'priceOf'>,
  run: LimitedRun,
  used: RunUse,
  fresh = false,
): RunLimits {
  return new RunLimits(gate, run, priceAt(counting, new Date(run.createdAt)), spentBy(run, used), fresh);
}
