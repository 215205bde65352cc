/** LLM agents as durable background jobs: the whole public API. */
export { createLanefold, migrate } from './on-demand.ts';
export type { LanefoldOptions } from './lanefold-options.ts';
export type { Lanefold } from './lanefold.ts';
export { defineAgent, type Agent, type AgentDefinition } from './agents/agent.ts';
export type { Caller, Overridable, OverridableOption } from './agents/overridable.ts';
export type { ModelRequest, RequestTransformer, TransformedRequest, TransformerContext } from './agents/transformer.ts';
export { inquiry as defineStrategy } from './strategies/inquiry/machine.ts';
export { quote } from './strategies/inquiry/quote.ts';
export type { Answer, Ask, Cause, Ending, Inquiry, Moment, Turn } from './strategies/inquiry/inquiry.ts';
export type { NodeDraft } from './strategies/node.ts';
export type { Strategy } from './strategies/registry.ts';
export type { StrategyOptions, ResultUnder, StrategyTypes } from './strategies/types.ts';
export type { Selection } from './strategies/selection.ts';
export type { AotResult } from './strategies/aot/aot.ts';
export type { TotCandidate, TotResult } from './strategies/tot/result.ts';
export type { ContentKind, ContextPolicy, PolicyOption, PolicyPreset } from './policy/policy.ts';
export type { TokenEstimator } from './policy/estimate.ts';
export type { Projector, ProjectorInput } from './policy/projector.ts';
export { defineTool, type ToolDefinition } from './tools/define-tool.ts';
export type { NeedsApproval, PendingCallContext, Replay, Tool, ToolCallContext } from './tools/tool.ts';
export { withEffects, type EffectPolicy, type WithEffects } from './tools/effects.ts';
export { applyEffects, type EffectOp, type StateEffect } from './context/state.ts';
export type { GuardedCall, GuardTool, GuardVerdict } from './tools/guard.ts';
export { defineSkills, type Skill } from './tools/skills.ts';
export { ToolError } from './tools/tool-error.ts';
export type { OutputContract, OutputOption, RepairDraft } from './contracts/contract.ts';
export { errorStatus, isLanefoldError, LanefoldError, type ErrorCode } from './errors.ts';
export type { EnqueueOptions } from './library/enqueue.ts';
export type { Transaction } from './store/transaction/transaction.ts';
export type { RunOverrides } from './library/check-overrides.ts';
export type { DecisionOptions } from './library/approvals.ts';
export type { CallRef, DecisionReceipt } from './store/approval/decide-tool-call.ts';
export type { Runs } from './library/runs.ts';
export type { RunRef } from './store/run/run-ref.ts';
export type { Collected, CollectOptions, MintedToken, ResumeOptions } from './library/checkpoints.ts';
export type { AwaitingCall, Run, RunHandle, RunStatus } from './store/run/run.ts';
export type { RunNode } from './store/run/read-nodes.ts';
export type { RunSnapshot } from './library/run-snapshot.ts';
export type { RunToolCall } from './store/run/read-run-details.ts';
export type { ConfigChanges, ThreadConfig } from './library/config.ts';
export type { RetryOptions } from './library/retry.ts';
export type { InputOptions } from './library/inputs.ts';
export type { Input } from './store/input/read-inputs.ts';
export type { InputReceipt, InputRejection } from './store/input/enqueue-input.ts';
export type { RunEvent } from './store/trace/read-events.ts';
export type { StreamItem, StreamOptions } from './streams/stream-item.ts';
export type { AppendOptions, NewEntry, Threads } from './library/threads.ts';
export type { ErasureReport, TenantErasureReport } from './library/erase.ts';
export type { Removed } from './library/removed.ts';
export type { Entry } from './store/log/read-entries.ts';
export type { UiMessagesOptions } from './library/ui-messages.ts';
export type { AnswerMetadata, UiMessage, UiPart, UiToolPart } from './ui-messages/message.ts';
export type { Thread } from './store/log/read-thread.ts';
export type { Contexts, NewContext, OperationOptions, ProjectOptions } from './library/contexts.ts';
export type { ExplainedMessage, PolicyView, Projection } from './library/project-context.ts';
export type { ConfigReceipt } from './store/context/change-config.ts';
export type { AppendReceipt } from './store/log/append-entries.ts';
export type { ModelCall } from './library/calls.ts';
export type { CallReplay, ReplayCallOptions } from './library/replay-call.ts';
export type { AgentSummary } from './library/agents.ts';
export type { PendingApproval } from './store/approval/list-approvals.ts';
export type { Page } from './store/page.ts';
export type { RunFilter } from './store/run/list-runs.ts';
export type { ThreadFilter, ThreadSummary } from './store/log/list-threads.ts';
export type { Activity } from './library/activity.ts';
export type { Lane } from './store/context/read-lanes.ts';
export type { OperationReceipt } from './store/context/apply-operation.ts';
export type { Health, Stats } from './library/health.ts';
export type { Library, TenantLibrary } from './library/library.ts';
export { startServer } from './api/start.ts';
export type { RunningServer, ServerOptions } from './api/options.ts';
export type { UnknownAgent } from './store/run/find-unknown-agents.ts';
export type { RunningWorker, StopReport, WorkerHealth, WorkerOptions } from './runtime/worker/options.ts';
export type {
  ContentInput,
  FilePart,
  FileSource,
  ImagePart,
  ImageUrlPart,
  MessageInput,
} from './models/messages/accept-content.ts';
export type { ContentPart, Json, JsonObject, Message, ModelTurn, Role, ToolCall, Usage } from './context/message.ts';
export type { LogFacts, Logger } from './log/logger.ts';
export type { TelemetryOptions } from './telemetry/opentelemetry/open.ts';
export type { CallSettings } from './models/settings/call-settings.ts';
export { foldContext, type ContextRow, type FoldEntry } from './context/fold.ts';
export { contextHash } from './context/canonical.ts';
export type { MigrateOptions, MigrateResult } from './store/schema/migrate.ts';
