import type { JsonObject, Message } from '../context/message.ts';
import type { CallSettings } from '../models/settings/call-settings.ts';

/** What one model call is made of. All of it is the transformer's own copy. */
export interface ModelRequest {
  /** `provider:model` or an alias. */
  model: string;
  /** What the lane's context says, the system prompt first. */
  messages: Message[];
  settings: CallSettings;
  /** Names of the tools the model is told of. */
  tools: string[];
}

/** Where the call stands. */
export interface TransformerContext {
  threadId: string;
  runId: string;
  requestId: string;
  agent: string;
  /** From 1. */
  iteration: number;
  /** Tool context of agent, thread and request, merged. */
  context: JsonObject;
  /** Snapshot of the thread's tool state. */
  state: JsonObject;
  /** Aborts on cancel and lost lease. */
  signal: AbortSignal;
}

/**
 * Sees every model call before it is made and may answer with what is to be different, for this call only: `settings` are
 * merged over the given ones, the others replace them; what is null or absent stays. `tools` may only be fewer, and a
 * tool left out is not run either. Nothing of it is stored but a mark in the answer's `refs`.
 *
 * It runs again when a call is retried or resumed, on any worker: let it depend on its arguments alone. What it throws
 * fails the run with `request_transform`.
 *
 * @example
 * const lastTen: RequestTransformer = ({ messages }) => ({ messages: messages.slice(-10) });
 */
export type RequestTransformer = (
  request: ModelRequest,
  context: TransformerContext,
) => TransformedRequest | undefined | void | Promise<TransformedRequest | undefined | void>;

export type TransformedRequest = { [K in keyof ModelRequest]?: ModelRequest[K] | null };
