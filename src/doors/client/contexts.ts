import { newId, type Connection } from './connection.ts';
import type {
  Compact,
  Context,
  ContextMessage,
  ContextPolicy,
  JsonObject,
  Lane,
  LaneChange,
  Message,
  ModelCall,
  OperationReceipt,
} from './operations.ts';
import type { CallOptions, RunHandle } from './types.ts';

export interface OperationOptions {
  /** A thread applies an operation with this id at most once; default: a new id. */
  opId?: string;
  reason?: 'manual' | 'restore' | 'compaction' | 'system';
  /** Apply only if the thread is at this rev; else `rev_conflict`. */
  expectedRev?: number;
  baseSeq?: number;
  meta?: JsonObject;
  repair?: boolean;
}

/** A context to start from. `systemPrompt`: absent inherits it; null: none. */
export interface NewContext {
  systemPrompt?: string | null;
  /** Your name for it, kept in the log. */
  id?: string;
  /** In chronological order. */
  entries: Message[];
}

/** Which context to read. */
export interface ProjectOptions {
  /** The lane; default: the active one. */
  contextRef?: string;
  /** As of this entry, inclusive; default: now. */
  atSeq?: number;
  /** Only the newest messages. */
  limit?: number;
}

/** How the next model call would see a context. Any of these asks for that view. */
export interface CallView {
  policy?: ContextPolicy;
  model?: string;
  agent?: string;
  /** What fits the budget, instead of what the next call sends. */
  fullBudget?: boolean;
  /** Adds why each message is sent or left out. */
  explain?: boolean;
}

type AsksOfCall =
  { policy: ContextPolicy } | { model: string } | { agent: string } | { fullBudget: true } | { explain: true };

export interface ClientContexts {
  /** What the next model call on a lane would be sent, and what that costs. */
  project(threadId: string, options: ProjectOptions & CallView & AsksOfCall, call?: CallOptions): Promise<Context>;
  /** The uncut context of a lane, now or as of an entry. @throws LanefoldClientError `thread_not_found` */
  project(threadId: string, options?: ProjectOptions, call?: CallOptions): Promise<ContextMessage[]>;
  /**
   * Replaces the context of a lane (default: the active one).
   *
   * @throws LanefoldClientError `open_tool_group`, `invalid_operation`, `rev_conflict`, `override_not_allowed`
   */
  replace(
    threadId: string,
    context: NewContext,
    options?: OperationOptions & { contextRef?: string },
    call?: CallOptions,
  ): Promise<OperationReceipt>;
  /** Makes a lane the active one. */
  switch(
    threadId: string,
    contextRef: string,
    options?: OperationOptions,
    call?: CallOptions,
  ): Promise<OperationReceipt>;
  /**
   * Makes a lane that exists the active one: shows its branch. While a run is active, that happens when the run ends.
   *
   * @throws LanefoldClientError `invalid_operation` for a lane that the thread does not have
   */
  show(threadId: string, contextRef: string, options?: LaneChange, call?: CallOptions): Promise<OperationReceipt>;
  /** Empties a lane (default: the active one), but keeps its system prompt. */
  reset(
    threadId: string,
    options?: LaneChange & { contextRef?: string },
    call?: CallOptions,
  ): Promise<OperationReceipt>;
  /**
   * Starts a run that summarises the older part of a lane. Until it ends, another call returns the same run.
   *
   * @throws LanefoldClientError `unreachable` where the answer was lost; the run may have started then
   */
  compact(threadId: string, options?: Compact, call?: CallOptions): Promise<RunHandle<JsonObject | null>>;
  /** The lanes of a thread. */
  lanes(threadId: string, call?: CallOptions): Promise<Lane[]>;
  /** One answered model call: exactly what was sent, verified by its hash, and what came back. */
  call(threadId: string, llmCallId: string, call?: CallOptions): Promise<ModelCall>;
}

export function contextsOf(connection: Connection): ClientContexts {
  const laneOf = async (threadId: string, contextRef: string | undefined, signal: AbortSignal | undefined) =>
    contextRef ?? (await connection.call('getThread', { params: { threadId }, signal })).activeContextRef;
  return {
    async project(threadId: string, options: ProjectOptions & CallView = {}, { signal }: CallOptions = {}) {
      const { contextRef, ...query } = options;
      const params = { threadId, contextRef: await laneOf(threadId, contextRef, signal) };
      const context = await connection.call('getContext', { params, query: query as never, signal });
      return (context.meta ? context : context.messages) as never;
    },
    replace: (threadId, resultContext, options = {}, { signal } = {}) => {
      const { contextRef, opId = newId('op'), expectedRev, repair, ...own } = options;
      const operation = { type: 'replace' as const, resultContext, ...own };
      const body = { opId, contextRef, operation, expectedRev, repair } as never;
      return connection.call('applyContextOperation', { params: { threadId }, body, signal });
    },
    switch: (threadId, contextRef, options = {}, { signal } = {}) => {
      const { opId = newId('op'), expectedRev, repair, ...own } = options;
      const body = { opId, contextRef, operation: { type: 'switch', ...own }, expectedRev, repair } as never;
      return connection.call('applyContextOperation', { params: { threadId }, body, signal });
    },
    show: (threadId, contextRef, options = {}, { signal } = {}) => {
      const params = { threadId, contextRef };
      return connection.call('showLane', { params, body: { opId: newId('op'), ...options }, signal });
    },
    async reset(threadId, { contextRef, ...options } = {}, { signal } = {}) {
      const params = { threadId, contextRef: await laneOf(threadId, contextRef, signal) };
      return connection.call('resetLane', { params, body: { opId: newId('op'), ...options }, signal });
    },
    compact: (threadId, options = {}, { signal } = {}) =>
      connection.call('compactLane', { params: { threadId }, body: options, signal, once: true }),
    async lanes(threadId, { signal } = {}) {
      return (await connection.call('listLanes', { params: { threadId }, signal })).data;
    },
    call: (threadId, llmCallId, { signal } = {}) =>
      connection.call('getCall', { params: { threadId, llmCallId }, signal }),
  };
}
