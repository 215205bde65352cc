import type { LanguageModelV4, LanguageModelV4FunctionTool, LanguageModelV4Prompt } from '@ai-sdk/provider';
import type { ModelTurn, ToolCall } from '../context/message.ts';
import type { ModelSettings } from '../models/settings/settings.ts';
import type { RunError, StepDraft } from '../strategies/machine.ts';
import type { ToolOutcome } from '../tools/outcome.ts';

/** Observes the work of a process: as traces, metrics or logs. No hook may throw, or take long. */
export interface Telemetry {
  /** A worker has claimed a run. Every claim ends with `ended` or `interrupted`, unless its process dies. */
  runClaimed(run: ClaimedRun): RunTelemetry;
  /** A worker ended the run instead of taking it. */
  runRefused(run: Pick<ClaimedRun, 'threadId' | 'runId' | 'agent'>, reason: RefusedClaim): void;
}

/** Claims before it made no progress; its context does not fit; nobody took it in time. */
export const refusedClaims = ['poisoned', 'context_too_large', 'claim_failed', 'expired'] as const;
export type RefusedClaim = (typeof refusedClaims)[number];

export interface ClaimedRun {
  threadId: string;
  runId: string;
  agent: string;
  /** As requested: an id or an alias of the model registry. */
  model: string;
  contextRef: string;
  /** The first claim of the run. */
  fresh: boolean;
  step: number;
  /** W3C `traceparent` of whoever enqueued the run. */
  traceparent: string | null;
  /** How long the job was in the queue after its delay, in ms, by the clocks of the processes that added and took it. */
  queuedMs: number;
  /** The trace the claim is recorded in, where it is traced: 32 hex digits. */
  traceId?: string | undefined;
}

export interface ObservedModelCall {
  callId: string;
  /** It repairs the output of the run: whatever step follows stores its answer. */
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
  /** Attempts of a worker that died, where the call is known to have started. */
  lostAttempts: number;
}

/** `lost`: another worker has the run, or nobody has. `handed_over`: this worker stops. `failed`: its database fails. */
export type Interruption = 'lost' | 'handed_over' | 'failed';

/** Observes one claim of a run. This class observes nothing; subclasses override what they want to see. */
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

  /** A write under the lease was stored, retries included. */
  wrote(_durationMs: number): void {}

  /** A step was committed. Its events are redacted. */
  stepCommitted(_step: StepDraft): void {}

  /** The worker renewed the lease this long after the renewal before it. */
  leaseRenewed(_ageMs: number): void {}

  /** The run has ended or is suspended. */
  ended(_end: { status: string; iteration: number; error?: RunError }): void {}

  /** This worker is done with the run, and the run is not. */
  interrupted(_reason: Interruption): void {}
}

export const silentRun = new RunTelemetry();
