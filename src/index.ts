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
export type { OutputContract, OutputOption, RepairDraft } from './contracts/contract.ts';
export { errorStatus, isLanefoldError, LanefoldError, type ErrorCode } from './errors.ts';
export type { EnqueueOptions, Transaction } from './library/enqueue.ts';
export type { RunOverrides } from './library/overrides.ts';
export type { CallRef, DecisionOptions, DecisionReceipt } from './library/approvals.ts';
export type { RunRef, Runs } from './library/runs.ts';
export type { Collected, CollectOptions, MintedToken, ResumeOptions } from './library/checkpoints.ts';
export type { AwaitingCall, Run, RunHandle, RunStatus } from './store/run-row.ts';
export type { RunSnapshot, RunToolCall } from './library/run-snapshot.ts';
export type { ConfigChanges, ThreadConfig } from './library/config.ts';
export type { Input, InputOptions, InputReceipt, InputRejection } from './library/inputs.ts';
export type { RunEvent } from './store/read-events.ts';
export type { StreamItem, StreamOptions } from './streams/stream.ts';
export type { AppendOptions, Entry, NewEntry, Thread, Threads } from './library/threads.ts';
export type { Contexts, Lane, NewContext, OperationOptions, OperationReceipt } from './library/contexts.ts';
export type { Health, Stats } from './library/health.ts';
export { startServer } from './api/start.ts';
export type { RunningServer, ServerOptions } from './api/options.ts';
export type { RunningWorker, StopReport, WorkerOptions } from './runtime/worker/options.ts';
export type { ContentPart, Json, JsonObject, Message, ModelTurn, Role, ToolCall, Usage } from './context/message.ts';
export type { CallSettings } from './models/settings/call-settings.ts';
export { foldContext, type ContextRow, type FoldEntry } from './context/fold.ts';
export { contextHash } from './context/canonical.ts';
export { migrate, type MigrateResult } from './store/schema/migrate.ts';
