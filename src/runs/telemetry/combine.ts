import type { ModelTurn } from '../../agent/context/message.ts';
import type { StepDraft } from '../../agent/strategies/machine.ts';
import type { ToolOutcome } from '../../agent/tools/outcome.ts';
import { RunTelemetry, silentRun } from './telemetry.ts';
import type { ClaimedRun, Interruption, ObservedModelCall, ObservedToolCall, Telemetry } from './telemetry.ts';

const silent: Telemetry = { runClaimed: () => silentRun, runRefused: () => {} };

/** Combines observers into one. Those listed after the tracing observer learn the id of the trace. */
export function combine(observers: readonly Telemetry[]): Telemetry {
  if (observers.length <= 1) return observers[0] ?? silent;
  return {
    runClaimed(run) {
      let { traceId } = run;
      const runs = observers.map((observer) => {
        const observed = observer.runClaimed({ ...run, traceId });
        traceId ??= observed.traceId;
        return observed;
      });
      return new CombinedRun(runs, traceId);
    },
    runRefused: (run, reason) => observers.forEach((observer) => observer.runRefused(run, reason)),
    attemptEnded: (outcome) => observers.forEach((observer) => observer.attemptEnded?.(outcome)),
    slotSettled: (outcome) => observers.forEach((observer) => observer.slotSettled?.(outcome)),
  };
}

class CombinedRun extends RunTelemetry {
  constructor(
    private readonly runs: readonly RunTelemetry[],
    override readonly traceId: ClaimedRun['traceId'],
  ) {
    super();
  }

  override during<T>(work: () => Promise<T>): Promise<T> {
    return this.runs.reduceRight((inner, run) => () => run.during(inner), work)();
  }

  override modelCall<T extends { turn: ModelTurn }>(
    call: ObservedModelCall,
    work: (onFirstPart: () => void) => Promise<T>,
  ): Promise<T> {
    const wrap = (inner: typeof work, run: RunTelemetry): typeof work => {
      return (onOuter) =>
        run.modelCall(call, (onFirstPart) =>
          inner(() => {
            onFirstPart();
            onOuter();
          }),
        );
    };
    return this.runs.reduceRight(wrap, work)(() => {});
  }

  override toolCall(call: ObservedToolCall, work: () => Promise<ToolOutcome>): Promise<ToolOutcome> {
    return this.runs.reduceRight((inner, run) => () => run.toolCall(call, inner), work)();
  }

  override wrote(durationMs: number): void {
    for (const run of this.runs) run.wrote(durationMs);
  }

  override stepCommitted(step: StepDraft): void {
    for (const run of this.runs) run.stepCommitted(step);
  }

  override leaseRenewed(ageMs: number): void {
    for (const run of this.runs) run.leaseRenewed(ageMs);
  }

  override ended(end: Parameters<RunTelemetry['ended']>[0]): void {
    for (const run of this.runs) run.ended(end);
  }

  override interrupted(reason: Interruption): void {
    for (const run of this.runs) run.interrupted(reason);
  }
}
