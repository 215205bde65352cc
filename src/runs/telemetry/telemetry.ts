import type { LanguageModelV4, LanguageModelV4FunctionTool, LanguageModelV4Prompt } from '@ai-sdk/provider';
import type { ModelTurn, ToolCall } from '../../agent/context/message.ts';
import type { ModelSettings } from '../../agent/models/settings.ts';
import type { StepDraft } from '../../agent/strategies/machine.ts';
import type { RunError } from '../../agent/strategies/records.ts';
import type { ToolOutcome } from '../../agent/tools/outcome.ts';

/** Observes the work of a process: as traces, metrics or logs. Hooks must not throw or take long. */
export interface Telemetry {
  /** A worker has claimed a run. Every claim ends with `ended` or `interrupted`, unless its process dies. */
  runClaimed(run: ClaimedRun): RunTelemetry;
  /** A worker ended the run instead of taking it. */
  runRefused(run: Pick<ClaimedRun, 'threadId' | 'runId' | 'agent'>, reason: RefusedClaim): void;
  /** An attempt to deliver an event to a webhook has ended. */
  attemptEnded?(outcome: AttemptOutcome): void;
  /** A slot of a schedule has started its run, or will not. */
  slotSettled?(outcome: SlotOutcome): void;
  /** The circuit of a model has been opened or closed, as this process learned. */
  circuitTurned?(turn: CircuitTurn): void;
}

/** Calls of a model are held back from now on, for this reason, or are made again. */
export interface CircuitTurn {
  model: string;
  state: 'open' | 'closed';
  reason?: string | undefined;
}

/** How an attempt to deliver an event ended: delivered, to be repeated, failed for good, or released because its worker stopped. */
export const attemptOutcomes = ['delivered', 'retried', 'failed', 'released'] as const;
export type AttemptOutcome = (typeof attemptOutcomes)[number];

/** What became of a slot of a schedule. */
export const slotOutcomes = ['fired', 'skipped', 'missed', 'failed'] as const;
export type SlotOutcome = (typeof slotOutcomes)[number];

/**
 * Why a worker ended a run instead of taking it: earlier claims made no progress, its context does not fit, claiming it
 * failed, or no worker took it in time.
 */
export const refusedClaims = ['poisoned', 'context_too_large', 'claim_failed', 'expired'] as const;
export type RefusedClaim = (typeof refusedClaims)[number];

export interface ClaimedRun {
  threadId: string;
  runId: string;
  agent: string;
  /** As requested: an id or an alias of the model registry. */
  model: string;
  contextRef: string;
  /** Whether this is the run's first claim. */
  fresh: boolean;
  step: number;
  /** W3C `traceparent` of the process that enqueued the run. */
  traceparent: string | null;
  /**
   * How long the run could have continued before this claim, in ms, by the clock of the database: it waited for a worker
   * or for a limit.
   */
  queuedMs: number;
  /** The trace that records the claim, if it is traced: 32 hex digits. */
  traceId?: string | undefined;
}

export interface ObservedModelCall {
  callId: string;
  /** The call repairs the run's output: the next step stores its answer, whichever step that is. */
  repair?: boolean;
  iteration: number;
  /** As requested: an id or an alias of the model registry. */
  name: string;
  model: LanguageModelV4;
  prompt: LanguageModelV4Prompt;
  tools: readonly LanguageModelV4FunctionTool[];
  settings: ModelSettings;
  stream: boolean;
}

export interface ObservedToolCall {
  call: ToolCall;
  description: string | undefined;
  round: number;
  index: number;
  iteration: number;
  /** Attempts by a worker that died, if the call is known to have started. */
  lostAttempts: number;
}

/**
 * `lost`: the run was taken over by another worker, or is gone. `released`: for another worker. `failed`: its
 * database fails.
 */
export type Interruption = 'lost' | 'released' | 'failed';

/** Observes one claim of a run. This class observes nothing; subclasses override the hooks they need. */
export class RunTelemetry {
  readonly traceId: string | undefined;

  /** Does the work of the claim. */
  during<T>(work: () => Promise<T>): Promise<T> {
    return work();
  }

  /** Makes a model call; `work` calls `onFirstPart` when the first part of a streamed answer arrives. */
  modelCall<T extends { turn: ModelTurn }>(
    _call: ObservedModelCall,
    work: (onFirstPart: () => void) => Promise<T>,
  ): Promise<T> {
    return work(() => {});
  }

  /** Executes a tool call with all its attempts. */
  toolCall(_call: ObservedToolCall, work: () => Promise<ToolOutcome>): Promise<ToolOutcome> {
    return work();
  }

  /** A write under the lease was stored; the duration includes retries. */
  wrote(_durationMs: number): void {}

  /** A step was committed. Its events are redacted. */
  stepCommitted(_step: StepDraft): void {}

  /** The worker renewed the lease, this long after the previous renewal. */
  leaseRenewed(_ageMs: number): void {}

  /** The run has ended or is suspended. */
  ended(_end: { status: string; iteration: number; limit?: string; error?: RunError }): void {}

  /** This worker stopped working on the run before the run ended. */
  interrupted(_reason: Interruption): void {}
}

export const silentRun = new RunTelemetry();

/** The parts of a W3C `traceparent`. */
interface TraceParent {
  traceId: string;
  spanId: string;
  traceFlags: number;
}

const pattern = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/**
 * Reads a `traceparent`; undefined for anything else, as the specification asks. Later versions may have more parts.
 */
export function parseTraceparent(text: string | null | undefined): TraceParent | undefined {
  const [, version, traceId, spanId, flags, more] = pattern.exec(text ?? '') ?? [];
  if (!traceId || !spanId || version === 'ff' || (version === '00' && more !== undefined)) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return { traceId, spanId, traceFlags: parseInt(flags!, 16) };
}

export const formatTraceparent = ({ traceId, spanId, traceFlags }: TraceParent): string =>
  `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;

/**
 * The parent of a run: the given one, for example from a request header, or the active span. If both are in the same
 * trace, the active span wins, because it is nested in the given one and closer to the run.
 */
export function parentOf(given: string | undefined, active: string | undefined): string | undefined {
  const parent = parseTraceparent(given);
  const nearer = parseTraceparent(active);
  const chosen = !parent || parent.traceId === nearer?.traceId ? (nearer ?? parent) : parent;
  return chosen && formatTraceparent(chosen);
}

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
    circuitTurned: (turn) => observers.forEach((observer) => observer.circuitTurned?.(turn)),
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
