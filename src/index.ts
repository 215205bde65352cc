/** LLM agents as durable background jobs. One page of everything public. */
export { createLanefold, type Lanefold, type LanefoldOptions } from './lanefold.ts';
export { defineAgent, type Agent, type AgentDefinition } from './agents/agent.ts';
export type { ModelRequest, RequestTransformer, TransformedRequest, TransformerContext } from './agents/transformer.ts';
export {
  defineTool,
  type NeedsApproval,
  type PendingCallContext,
  type Replay,
  type Tool,
  type ToolCallContext,
  type ToolDefinition,
} from './tools/tool.ts';
export { withEffects, type EffectPolicy, type WithEffects } from './tools/effects.ts';
export { applyEffects, type EffectOp, type StateEffect } from './context/state.ts';
export type { GuardedCall, GuardTool, GuardVerdict } from './tools/guard.ts';
export { defineSkills, type Skill } from './tools/skills.ts';
export { ToolError } from './tools/tool-error.ts';
export type { OutputContract, OutputOption, RepairDraft } from './output/contract.ts';
export { errorStatus, isLanefoldError, LanefoldError, type ErrorCode } from './errors.ts';
export type { EnqueueOptions, Transaction } from './client/enqueue.ts';
export type { RunOverrides } from './client/overrides.ts';
export type { CallRef, DecisionOptions, DecisionReceipt } from './client/approvals.ts';
export type { RunRef, Runs } from './client/runs.ts';
export type { Collected, CollectOptions, MintedToken, ResumeOptions } from './client/checkpoints.ts';
export type { AwaitingCall, Run, RunHandle, RunStatus } from './client/run-row.ts';
export type { RunSnapshot, RunToolCall } from './client/run-snapshot.ts';
export type { ConfigChanges, ThreadConfig } from './client/thread-config.ts';
export type { Input, InputOptions, InputReceipt, InputRejection } from './client/inputs.ts';
export type { RunEvent } from './client/events.ts';
export type { StreamItem, StreamOptions } from './streams/stream.ts';
export type { AppendOptions, Entry, NewEntry, Thread, Threads } from './client/threads.ts';
export type { Contexts, Lane, NewContext, OperationOptions, OperationReceipt } from './client/contexts.ts';
export type { Health, Stats } from './client/health.ts';
export { startServer } from './api/start.ts';
export type { RunningServer, ServerOptions } from './api/options.ts';
export type { RunningWorker, StopReport, WorkerOptions } from './runtime/worker-options.ts';
export type { ContentPart, Json, JsonObject, Message, ModelTurn, Role, ToolCall, Usage } from './context/message.ts';
export type { CallSettings } from './models/call-settings.ts';
export { foldContext, type ContextRow, type FoldEntry } from './context/fold.ts';
export { contextHash } from './context/canonical.ts';
export { migrate, type MigrateResult } from './postgres/migrate.ts';
