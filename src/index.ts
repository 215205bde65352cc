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
export type { EnqueueOptions } from './library/enqueue.ts';
export type { Transaction } from './store/run/enqueue-run.ts';
export type { RunOverrides } from './library/overrides.ts';
export type { DecisionOptions } from './library/approvals.ts';
export type { DecisionReceipt } from './store/approval/decide-tool-call.ts';
export type { CallRef } from './store/approval/decide-tool-call.ts';
export type { Runs } from './library/runs.ts';
export type { RunRef } from './library/run-ref.ts';
export type { Collected, CollectOptions, MintedToken, ResumeOptions } from './library/checkpoints.ts';
export type { Run, RunStatus } from './store/run/run.ts';
export type { AwaitingCall, RunHandle } from './store/run/run.ts';
export type { RunSnapshot } from './library/run-snapshot.ts';
export type { RunToolCall } from './store/run/read-run-details.ts';
export type { ConfigChanges, ThreadConfig } from './library/config.ts';
export type { InputOptions } from './library/inputs.ts';
export type { Input } from './store/input/read-inputs.ts';
export type { InputReceipt } from './store/input/enqueue-input.ts';
export type { InputRejection } from './store/input/enqueue-input.ts';
export type { RunEvent } from './store/trace/read-events.ts';
export type { StreamItem, StreamOptions } from './streams/stream-item.ts';
export type { AppendOptions, NewEntry, Threads } from './library/threads.ts';
export type { Entry } from './store/log/read-entries.ts';
export type { Thread } from './store/log/read-thread.ts';
export type { Contexts, NewContext, OperationOptions } from './library/contexts.ts';
export type { Lane } from './store/context/read-lanes.ts';
export type { OperationReceipt } from './store/context/apply-operation.ts';
export type { Health, Stats } from './library/health.ts';
export { startServer } from './api/start.ts';
export type { RunningServer, ServerOptions } from './api/options.ts';
export type { RunningWorker, StopReport, WorkerOptions } from './runtime/worker/options.ts';
export type { ContentPart, Json, JsonObject, Message, ModelTurn, Role, ToolCall, Usage } from './context/message.ts';
export type { CallSettings } from './models/settings/call-settings.ts';
export { foldContext, type ContextRow, type FoldEntry } from './context/fold.ts';
export { contextHash } from './context/canonical.ts';
export { migrate, type MigrateResult } from './store/schema/migrate.ts';
