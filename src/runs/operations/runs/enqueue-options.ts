import type { AgentRegistry } from '../../../agent/definition/registry.ts';
import type { ParentCall } from '../../../agent/definition/run-options.ts';
import type { OutputOption } from '../../../agent/contracts/contract.ts';
import type { ContentInput } from '../../../agent/models/accept-content.ts';
import type { Counting } from '../../../agent/models/counting.ts';
import type { ModelRegistry } from '../../../agent/models/registry.ts';
import type { VersionChooser } from '../agents/version-chooser.ts';
import type { RunOverrides } from './check-overrides.ts';
import type { RequestDeps } from './enqueue-request.ts';
import type { RunRequest } from './types.ts';

/** `CHOSEN`: the name of the request's strategy, if it is known at compile time. */
export interface EnqueueOptions<
  NAME extends string = string,
  OUT extends OutputOption | undefined = OutputOption | undefined,
  CHOSEN extends string = string,
>
  extends RunOverrides<OUT, CHOSEN>, RunRequest {
  agent: NAME;
  /** The user message: text, or parts such as `{ type: 'image', image }`. Bytes are stored as base64. */
  input: ContentInput;
  /** Default: a new thread, created with the run. */
  threadId?: string;
  /**
   * W3C `traceparent` that the run's first claim continues; default: the active span, if telemetry is on. Ignored if
   * malformed.
   */
  traceparent?: string;
}

/** What only the library itself sets. */
export interface OwnEnqueueOptions extends EnqueueOptions {
  /** The run whose checkpoint this one continues from. */
  resumedFrom?: string;
  /** Default: a new id. */
  runId?: string;
  /** It answers a question that its lane ends with: `input`, which is not stored again. */
  answers?: true;
  /** The call that starts it. */
  parent?: ParentCall;
}

export interface EnqueueDeps extends RequestDeps {
  agents: AgentRegistry;
  models: ModelRegistry;
  counting: Counting;
  /** Chooses versions of agents that have rollouts. */
  rollouts?: VersionChooser | undefined;
}
