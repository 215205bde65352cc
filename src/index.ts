/**
 * LLM agents as durable background jobs, in the order in which an application meets them.
 *
 * @module lanefold
 */

// Agents and their tools
export { defineAgent, type Agent } from './agents/agent.ts';
export type { AgentDefinition } from './agents/definition.ts';
export { defineTool, type ToolDefinition } from './tools/define-tool.ts';
export { agentResultTool, agentTool, type AgentToolOptions } from './tools/agent-tool.ts';
export {
  handOff,
  handoffTool,
  type Handoff,
  type HandoffOptions,
  type HandoffRequest,
  type HandoffToolOptions,
} from './tools/handoff.ts';
export { awaitAgent, callAgent, spawnAgent } from './tools/call-agent.ts';
export type { AgentTask, ChildRequest, RunOfAgent } from './tools/child-request.ts';
export { clientTool, type ClientToolOptions } from './tools/client-tool.ts';
export { sleep, sleepUntil, waitFor, type Wait, type WaitRequest, type WaitTimeout } from './tools/wait.ts';
export type {
  NeedsApproval,
  PendingCallContext,
  Tool,
  ToolCallContext,
  ToolReplay,
  ToolValidation,
} from './tools/tool.ts';
export type { ToolListing, ToolRecord } from './tools/normalise.ts';
export { ToolError } from './tools/tool-error.ts';
export { withEffects, type EffectPolicy, type WithEffects } from './tools/effects.ts';
export { applyEffects, type EffectOp, type StateEffect } from './context/state.ts';
export type { GuardedCall, GuardTool, GuardVerdict } from './tools/guard.ts';
export { defineSkills, type Skill } from './tools/skills.ts';
export type { OutputContract, OutputOption, OutputSchema, RepairDraft } from './contracts/contract.ts';
export type { ContentKind, ContextPolicy, PolicyOption, PolicyPreset, StoredPolicy } from './policy/policy.ts';
export type { ContextProjector, ContextProjectorInput } from './policy/projector.ts';
export type { TokenEstimator } from './policy/estimate.ts';
export { policyForModel } from './models/counting/policy-for-model.ts';
export type { ModelName, ProviderName } from './models/registry/model-name.ts';
export type { CallSettings } from './models/settings/call-settings.ts';
export type { ModelSource } from './models/registry/registry.ts';
export type { Overridable, OverridableOption, OverrideCaller } from './agents/overridable.ts';
export type { ModelRequest, RequestTransformer, TransformedRequest, TransformerContext } from './agents/transformer.ts';
export type { Strategy } from './strategies/registry.ts';
export type { StrategySelection } from './strategies/selection.ts';
export type { ResultUnder, StrategyName, StrategyOptions, StrategyTypes } from './strategies/types.ts';
export type { AgentResult } from './contracts/result-type.ts';
export type { RunResult } from './agents/run-result.ts';
export type { AotResult } from './strategies/aot/aot.ts';
export type { TotCandidate, TotResult } from './strategies/tot/result.ts';
export type { ParserMode } from './strategies/tot/parse.ts';

// One object for a process
export { createLanefold, migrate } from './lanefold/create.ts';
export { defineLanefold, type LanefoldDefinition } from './lanefold/definition.ts';
export type { Lanefold } from './lanefold/lanefold.ts';
export type { Recovered } from './recovery/recover.ts';
export type { LanefoldOptions } from './lanefold/options.ts';
export type { MigrateOptions, MigrateResult } from './store/schema/migrate.ts';
export type { ApiKeys, AuditLog, MintedKey, NewBrowserToken, NewKey } from './library/access/keys.ts';
export type { ApiKey, FoundKey } from './store/access/api-keys.ts';
export type { AuditedAction, AuditEntry, AuditQuery } from './store/access/audit.ts';
export type { BrowserAccess } from './access/browser-token.ts';
export type { Principal } from './access/principal.ts';
export type { KeyLimits } from './access/scope.ts';
export type { Tenants } from './library/access/tenants.ts';
export type { TenantSettings } from './store/tenant/tenant-settings.ts';
export type { LimitOwner, Limits, ListedLimit } from './library/limits/limits.ts';
export type {
  ListedSchedule,
  ScheduleOwner,
  ScheduleSlot,
  Schedules,
  SchedulePage,
  SetScheduleOptions,
} from './library/schedules/schedules.ts';
export type { CatchUp, Overlap, ScheduleDefinition, ScheduleRunOptions, Timing } from './schedules/definition.ts';
export type {
  DeliveriesQuery,
  ListedWebhook,
  ReplayWebhookOptions,
  RotateWebhookOptions,
  SetWebhookResult,
  WebhookDelivery,
  WebhookOwner,
  Webhooks,
} from './library/webhooks/types.ts';
export type { ListedMonitor, MonitorOwner, Monitors, ScoresQuery } from './library/monitors/types.ts';
export type { CheckedMonitor, MonitorAlert, MonitorDefinition } from './monitors/definition.ts';
export type { MonitorRow } from './store/monitor/monitors.ts';
export type { RunScore } from './store/monitor/run-scores.ts';
export type { DeliveryStatus, PauseReason, WebhookDefinition, WebhookType } from './webhooks/definition.ts';
export type { WebhookRow } from './store/webhook/webhooks.ts';
export type { DeliveryRow } from './store/webhook/deliveries.ts';
export type {
  CaseBy,
  CaseChanges,
  Cases,
  EvalBy,
  EvalDefinition,
  Evals,
  EvalTools,
  EvalVariant,
  ExportedCases,
  ImportedCases,
  ListedEval,
  ListedEvalItem,
  NewCase,
  SkippedCase,
} from './library/evals/types.ts';
export type { CaseQuery, Dataset, EvalCase } from './store/eval/cases.ts';
export type { EvalItem, EvalItemStatus, Expected, Score } from './evals/item.ts';
export type { SlotRow, SlotStatus } from './store/schedule/slots.ts';
export type {
  LimitHolder,
  LimitHoldersOptions,
  LimitTotal,
  LimitUsage,
  LimitUsageOptions,
} from './library/limits/usage.ts';
export type { LimitDefinition, LimitInterval } from './limits/definition.ts';
export type { LimitKind, OnExhausted } from './limits/limit.ts';
export type { RoleCheck } from './library/access/role-check.ts';
export type { KnownHeads, TamperEvidence } from './library/evidence/evidence.ts';
export type { EvidenceFinding } from './library/evidence/finding.ts';
export type { SignedHead } from './library/evidence/signed-head.ts';
export type { Streams, TenantStreams } from './streams/open.ts';
export type { OpenStream } from './streams/stream.ts';
export type { Library, TenantLibrary } from './library/library.ts';
export type { LogFacts, Logger } from './log/logger.ts';
export type { MetricsOptions } from './telemetry/prometheus/open.ts';
export type { TelemetryOptions } from './telemetry/opentelemetry/open.ts';

// Runs: enqueue, follow, steer, approve, retry
export type { EnqueuedBy, ListedRun, Runs, WaitOptions } from './library/runs/runs.ts';
export type { EnqueueOptions } from './library/runs/enqueue.ts';
export type { RunOverrides } from './library/runs/check-overrides.ts';
export type {
  DrizzleTransaction,
  KyselyTransaction,
  PgTransaction,
  PostgresJsTransaction,
  PrismaTransaction,
  Transaction,
} from './store/transaction/transaction.ts';
export type {
  AwaitingCall,
  Run,
  RunHandle,
  RunRef,
  RunStatus,
  RunWait,
  TerminationReason,
  WaitingFor,
} from './store/run/run.ts';
export type { RunFilter } from './store/run/list-runs.ts';
export type { RunSnapshot } from './library/runs/run-snapshot.ts';
export type { ModelCost, RunCost } from './library/runs/cost.ts';
export type { PricedTokens, PriceOf, TokenRates } from './models/counting/price.ts';
export type { RunNode } from './store/run/read-nodes.ts';
export type { RunMark, RunMarkCount } from './store/run/read-marks.ts';
export type { RunToolCall } from './store/run/read-run-details.ts';
export type { RunEvent } from './store/trace/read-events.ts';
export type { RunEventKind } from './strategies/event-kind.ts';
export type { StreamItem, StreamOptions } from './streams/stream-item.ts';
export type { OpenTreeStream, TreeStreamItem, TreeStreamOptions } from './streams/tree.ts';
export type { InputOptions } from './library/runs/inputs.ts';
export type { InputReceipt } from './store/input/enqueue-input.ts';
export type { RunInput } from './store/input/read-inputs.ts';
export type { DecisionOptions } from './library/runs/approvals.ts';
export type { DecisionReceipt } from './store/wait/decide-tool-call.ts';
export type { PendingApproval } from './store/wait/list-approvals.ts';
export type { PendingWait, WaitFilter } from './store/wait/list-waits.ts';
export type { WaitStatus } from './store/wait/end-wait.ts';
export type { ListWaitsOptions, ReleasedWait, ReleaseOptions, Waits } from './library/waits/waits.ts';
export type { Events, EventTokenOptions } from './library/waits/events.ts';
export type { SendOptions, SentEvent } from './library/waits/send-event.ts';
export type { RunTree, TreeRun } from './library/runs/tree.ts';
export type { TreeRow } from './store/run/read-tree.ts';
export type { RetryOptions } from './library/runs/retry.ts';
export type { RerunOptions } from './library/runs/rerun.ts';
export type { RunError } from './strategies/run-error.ts';
export type { CollectedRun, CollectOptions, MintedToken, ResumeOptions } from './library/runs/checkpoints.ts';

// Threads: conversations and their log
export type { AppendOptions, NewEntry, Thread, Threads, ThreadSummary } from './library/threads/types.ts';
export type { ThreadFilter } from './store/log/list-threads.ts';
export type { ThreadEntry } from './store/log/read-entries.ts';
export type { AppendReceipt } from './store/log/append-entries.ts';
export type { ForkOptions } from './library/threads/fork.ts';
export type { ForkReceipt } from './store/fork/fork-thread.ts';
export type { ImportOptions, ImportReceipt, ThreadSource } from './library/threads/import.ts';
export type { ImportNote } from './portable/portable-thread.ts';
export type { CheckpointReader, ReadCheckpoint } from './portable/langgraph.ts';
export type { ReadContentOptions } from './library/threads/content.ts';
export type { ContentRange } from './store/content/read-content.ts';
export type { ListPage } from './store/page.ts';
export type { ConfigChanges, ThreadConfig } from './library/threads/config.ts';
export type { ConfigReceipt } from './store/context/read-config.ts';
export type { ErasureReport, TenantErasureReport } from './library/threads/erasure-report.ts';
export type { RemovedRows } from './library/threads/removed.ts';
export type { RunOfMessage, UiMessagesOptions } from './library/threads/ui-messages.ts';
export type {
  AnswerMetadata,
  UiApproval,
  UiFilePart,
  UiMessage,
  UiPart,
  UiReasoningPart,
  UiSteeringPart,
  UiTextPart,
  UiToolPart,
} from './ui-messages/message.ts';
export type { AgUiSnapshot, AgUiSnapshotOptions } from './library/threads/ag-ui-snapshot.ts';
export type { AgUiQuestion } from './ag-ui/history.ts';
export type { AgUiMessage, AgUiPart, AgUiSource, AgUiToolCall, AgUiUserMessage } from './ag-ui/message.ts';
export type {
  ContentInput,
  FilePart,
  FileSource,
  ImagePart,
  ImageUrlPart,
  MessageInput,
} from './models/messages/accept-content.ts';

// Contexts: what the model sees, now and at any earlier point
export type {
  Contexts,
  DiffedContext,
  NewContext,
  OperationOptions,
  ProjectOptions,
} from './library/contexts/contexts.ts';
export type { ContextProjection, ExplainedMessage, PolicyView } from './library/contexts/project.ts';
export type { ContextGroupKind } from './policy/groups.ts';
export type { KeptReason, LeftReason, PolicyReason } from './policy/reasons.ts';
export type { ProjectionMeta } from './policy/budget.ts';
export type { CompactionResult, CompactOptions } from './library/contexts/compact.ts';
export type { DiffRow } from './store/context/context-diff.ts';
export type { PrefixBreak } from './library/contexts/prefix-break.ts';
export type { ModelCall } from './library/contexts/calls.ts';
export type { CallReplay, ReplayCallOptions } from './library/contexts/replay-call.ts';
export type { Lane } from './store/context/read-lanes.ts';
export type { OperationReceipt } from './store/context/apply-operation.ts';
export type { AnswerCut, OnCut } from './context/cut.ts';
export type { ContentPart, Json, JsonObject, Message, ModelTurn, Role, ToolCall, Usage } from './context/message.ts';
export { foldContext, type ContextRow, type FoldEntry } from './context/fold.ts';
export { contextHash } from './context/canonical.ts';

// Workers, the server, and what they do now
export type {
  EndedRun,
  RunningWorker,
  StopReport,
  UnreadyReason,
  WorkerHealth,
  WorkerOptions,
} from './runtime/worker/options.ts';
export { startServer } from './api/start.ts';
export type { RunningServer, ServerOptions } from './api/options.ts';
export type { AgentSummary } from './library/agents/agents.ts';
export type { FleetActivity } from './library/fleet/activity.ts';
export type { FleetHealth, FleetStats } from './library/fleet/health.ts';
export type { AgentVersions, ListedVersion } from './library/agents/versions.ts';
export type { ListedRollout, RolloutOwner, Rollouts } from './library/agents/rollouts.ts';
export type { RolloutDefinition } from './agents/read-rollout.ts';
export type { Rollout, StoredRollout } from './store/agent/rollouts.ts';
export type { VersionChange } from './agents/diff-versions.ts';
export type { StoredVersion } from './store/agent/versions.ts';
export type { Workers } from './library/fleet/workers.ts';
export type { FleetCounts, ListedWorker, WorkerState } from './store/worker/list-workers.ts';
export type { UnattendedRuns } from './fleet/unattended.ts';
export type { UnknownAgent } from './store/run/find-unknown-agents.ts';

// Errors
export { errorStatus, isLanefoldError, LanefoldError, type ErrorCode } from './errors.ts';
