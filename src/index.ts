/**
 * LLM agents as durable background jobs, in the order in which an application meets them.
 *
 * @module lanefold
 */

// Agents and their tools
export { defineAgent, type Agent } from './agent/definition/agent.ts';
export type { AgentDefinition } from './agent/definition/definition.ts';
export { defineTool, type ToolDefinition } from './agent/tools/define-tool.ts';
export { agentResultTool, agentTool, type AgentToolOptions } from './agent/tools/agent-tool.ts';
export {
  handOff,
  handoffTool,
  type Handoff,
  type HandoffOptions,
  type HandoffRequest,
  type HandoffToolOptions,
} from './agent/tools/handoff.ts';
export { awaitAgent, callAgent, spawnAgent } from './agent/tools/call-agent.ts';
export type { AgentTask, ChildRequest, RunOfAgent } from './agent/tools/child-request.ts';
export { clientTool, type ClientToolOptions } from './agent/tools/client-tool.ts';
export { sleep, sleepUntil, waitFor, type Wait, type WaitRequest, type WaitTimeout } from './agent/tools/wait.ts';
export type {
  NeedsApproval,
  PendingCallContext,
  Tool,
  ToolCallContext,
  ToolReplay,
  ToolValidation,
} from './agent/tools/tool.ts';
export type { ToolListing, ToolRecord } from './agent/tools/normalise.ts';
export { ToolError } from './agent/tools/tool-error.ts';
export { withEffects, type EffectPolicy, type WithEffects } from './agent/tools/effects.ts';
export { applyEffects, type EffectOp, type StateEffect } from './agent/context/state.ts';
export type { GuardedCall, GuardTool, GuardVerdict } from './agent/tools/guard.ts';
export { defineSkills, type Skill } from './agent/tools/skills.ts';
export type { OutputContract, OutputOption, OutputSchema, RepairDraft } from './agent/contracts/contract.ts';
export type { ContentKind, ContextPolicy, PolicyOption, PolicyPreset, StoredPolicy } from './agent/policy/policy.ts';
export type { ContextProjector, ContextProjectorInput } from './agent/policy/projector.ts';
export type { TokenEstimator } from './agent/policy/estimate.ts';
export { policyForModel } from './agent/models/counting/policy-for-model.ts';
export type { ModelName, ProviderName } from './agent/models/registry/model-name.ts';
export type { CallSettings } from './agent/models/settings/call-settings.ts';
export type { ModelSource } from './agent/models/registry/registry.ts';
export type { Overridable, OverridableOption, OverrideCaller } from './agent/definition/overridable.ts';
export type {
  ModelRequest,
  RequestTransformer,
  TransformedRequest,
  TransformerContext,
} from './agent/definition/transformer.ts';
export type { Strategy } from './agent/strategies/registry.ts';
export type { StrategySelection } from './agent/strategies/selection.ts';
export type { ResultUnder, StrategyName, StrategyOptions, StrategyTypes } from './agent/strategies/types.ts';
export type { AgentResult } from './agent/contracts/result-type.ts';
export type { RunResult } from './agent/definition/run-result.ts';
export type { AotResult } from './agent/strategies/aot/aot.ts';
export type { TotCandidate, TotResult } from './agent/strategies/tot/result.ts';
export type { ParserMode } from './agent/strategies/tot/parse.ts';

// One object for a process
export { createLanefold, migrate } from './lanefold/create.ts';
export { defineLanefold, type LanefoldDefinition } from './lanefold/definition.ts';
export type { Lanefold } from './lanefold/lanefold.ts';
export type { Recovered } from './lanefold/recovery/recover.ts';
export type { LanefoldOptions } from './lanefold/options.ts';
export type { MigrateOptions, MigrateResult } from './database/store/schema/migrate.ts';
export type { ApiKeys, AuditLog, MintedKey, NewBrowserToken, NewKey } from './runs/operations/access/keys.ts';
export type { ApiKey, FoundKey } from './database/store/access/api-keys.ts';
export type { AuditedAction, AuditEntry, AuditQuery } from './database/store/access/audit.ts';
export type { BrowserAccess } from './base/access/browser-token.ts';
export type { Principal } from './base/access/principal.ts';
export type { KeyLimits } from './base/access/scope.ts';
export type { Tenants } from './runs/operations/access/tenants.ts';
export type { TenantSettings } from './database/store/tenant/tenant-settings.ts';
export type { LimitOwner, Limits, ListedLimit } from './runs/operations/limits/limits.ts';
export type {
  ListedSchedule,
  ScheduleOwner,
  ScheduleSlot,
  Schedules,
  SchedulePage,
  SetScheduleOptions,
} from './features/schedules/operations/schedules.ts';
export type {
  CatchUp,
  Overlap,
  ScheduleDefinition,
  ScheduleRunOptions,
  Timing,
} from './features/schedules/definition/definition.ts';
export type {
  DeliveriesQuery,
  ListedWebhook,
  ReplayWebhookOptions,
  RotateWebhookOptions,
  SetWebhookResult,
  WebhookDelivery,
  WebhookOwner,
  Webhooks,
} from './features/webhooks/operations/types.ts';
export type { ListedMonitor, MonitorOwner, Monitors, ScoresQuery } from './features/monitors/operations/types.ts';
export type { CheckedMonitor, MonitorAlert, MonitorDefinition } from './features/monitors/definition/definition.ts';
export type { MonitorRow } from './features/monitors/store/monitors.ts';
export type { RunScore } from './features/monitors/store/run-scores.ts';
export type {
  DeliveryStatus,
  PauseReason,
  WebhookDefinition,
  WebhookType,
} from './features/webhooks/definition/definition.ts';
export type { WebhookRow } from './features/webhooks/store/webhooks.ts';
export type { DeliveryRow } from './features/webhooks/store/deliveries.ts';
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
} from './features/evals/operations/types.ts';
export type { CaseQuery, Dataset, EvalCase } from './features/evals/store/cases.ts';
export type { EvalItem, EvalItemStatus, Expected, Score } from './features/evals/item.ts';
export type { SlotRow, SlotStatus } from './features/schedules/store/slots.ts';
export type {
  LimitHolder,
  LimitHoldersOptions,
  LimitTotal,
  LimitUsage,
  LimitUsageOptions,
} from './runs/operations/limits/usage.ts';
export type { LimitDefinition, LimitInterval } from './agent/limits/definition.ts';
export type { LimitKind, OnExhausted } from './agent/limits/limit.ts';
export type { RoleCheck } from './runs/operations/access/role-check.ts';
export type { KnownHeads, TamperEvidence } from './runs/operations/evidence/evidence.ts';
export type { EvidenceFinding } from './runs/operations/evidence/finding.ts';
export type { SignedHead } from './runs/operations/evidence/signed-head.ts';
export type { Streams, TenantStreams } from './runs/streams/open.ts';
export type { OpenStream } from './runs/streams/stream.ts';
export type { Library, TenantLibrary } from './features/library/library.ts';
export type { LogFacts, Logger } from './base/log/logger.ts';
export type { MetricsOptions } from './runs/telemetry/prometheus/open.ts';
export type { TelemetryOptions } from './runs/telemetry/opentelemetry/open.ts';

// Runs: enqueue, follow, steer, approve, retry
export type { EnqueuedBy, ListedRun, Runs, WaitOptions } from './runs/operations/runs/runs.ts';
export type { EnqueueOptions } from './runs/operations/runs/enqueue.ts';
export type { RunOverrides } from './runs/operations/runs/check-overrides.ts';
export type {
  DrizzleTransaction,
  KyselyTransaction,
  PgTransaction,
  PostgresJsTransaction,
  PrismaTransaction,
  Transaction,
} from './database/store/transaction/transaction.ts';
export type {
  AwaitingCall,
  Run,
  RunHandle,
  RunRef,
  RunStatus,
  RunWait,
  TerminationReason,
  WaitingFor,
} from './database/store/run/run.ts';
export type { RunFilter } from './database/store/run/list-runs.ts';
export type { RunSnapshot } from './runs/operations/runs/run-snapshot.ts';
export type { ModelCost, RunCost } from './runs/operations/runs/cost.ts';
export type { PricedTokens, PriceOf, TokenRates } from './agent/models/counting/price.ts';
export type { RunNode } from './database/store/run/read-nodes.ts';
export type { RunMark, RunMarkCount } from './database/store/run/read-marks.ts';
export type { RunToolCall } from './database/store/run/read-run-details.ts';
export type { RunEvent } from './database/store/trace/read-events.ts';
export type { RunEventKind } from './agent/strategies/event-kind.ts';
export type { StreamItem, StreamOptions } from './runs/streams/stream-item.ts';
export type { OpenTreeStream, TreeStreamItem, TreeStreamOptions } from './runs/streams/tree.ts';
export type { InputOptions } from './runs/operations/runs/inputs.ts';
export type { InputReceipt } from './database/store/input/enqueue-input.ts';
export type { RunInput } from './database/store/input/read-inputs.ts';
export type { DecisionOptions } from './runs/operations/runs/approvals.ts';
export type { DecisionReceipt } from './database/store/wait/decide-tool-call.ts';
export type { PendingApproval } from './database/store/wait/list-approvals.ts';
export type { PendingWait, WaitFilter } from './database/store/wait/list-waits.ts';
export type { WaitStatus } from './database/store/wait/end-wait.ts';
export type { ListWaitsOptions, ReleasedWait, ReleaseOptions, Waits } from './runs/operations/waits/waits.ts';
export type { Events, EventTokenOptions } from './runs/operations/waits/events.ts';
export type { SendOptions, SentEvent } from './runs/operations/waits/send-event.ts';
export type { RunTree, TreeRun } from './runs/operations/runs/tree.ts';
export type { TreeRow } from './database/store/run/read-tree.ts';
export type { RetryOptions } from './runs/operations/runs/retry.ts';
export type { RerunOptions } from './runs/operations/runs/rerun.ts';
export type { RunError } from './agent/strategies/run-error.ts';
export type { CollectedRun, CollectOptions, MintedToken, ResumeOptions } from './runs/operations/runs/checkpoints.ts';

// Threads: conversations and their log
export type { AppendOptions, NewEntry, Thread, Threads, ThreadSummary } from './runs/operations/threads/types.ts';
export type { ThreadFilter } from './database/store/log/list-threads.ts';
export type { ThreadEntry } from './database/store/log/read-entries.ts';
export type { AppendReceipt } from './database/store/log/append-entries.ts';
export type { ForkOptions } from './runs/operations/threads/fork.ts';
export type { ForkReceipt } from './database/store/fork/fork-thread.ts';
export type { ImportOptions, ImportReceipt, ThreadSource } from './runs/operations/threads/import.ts';
export type { ImportNote } from './runs/formats/portable/portable-thread.ts';
export type { CheckpointReader, ReadCheckpoint } from './runs/formats/portable/langgraph.ts';
export type { ReadContentOptions } from './runs/operations/threads/content.ts';
export type { ContentRange } from './database/store/content/read-content.ts';
export type { ListPage } from './database/store/page.ts';
export type { ConfigChanges, ThreadConfig } from './runs/operations/threads/config.ts';
export type { ConfigReceipt } from './database/store/context/read-config.ts';
export type { ErasureReport, TenantErasureReport } from './runs/operations/threads/erasure-report.ts';
export type { RemovedRows } from './runs/operations/threads/removed.ts';
export type { RunOfMessage, UiMessagesOptions } from './runs/operations/threads/ui-messages.ts';
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
} from './runs/formats/ui-messages/message.ts';
export type { AgUiSnapshot, AgUiSnapshotOptions } from './runs/operations/threads/ag-ui-snapshot.ts';
export type { AgUiQuestion } from './runs/formats/ag-ui/history.ts';
export type { AgUiMessage, AgUiPart, AgUiSource, AgUiToolCall, AgUiUserMessage } from './runs/formats/ag-ui/message.ts';
export type {
  ContentInput,
  FilePart,
  FileSource,
  ImagePart,
  ImageUrlPart,
  MessageInput,
} from './agent/models/messages/accept-content.ts';

// Contexts: what the model sees, now and at any earlier point
export type {
  Contexts,
  DiffedContext,
  NewContext,
  OperationOptions,
  ProjectOptions,
} from './runs/operations/contexts/contexts.ts';
export type { ContextProjection, ExplainedMessage, PolicyView } from './runs/operations/contexts/project.ts';
export type { ContextGroupKind } from './agent/policy/groups.ts';
export type { KeptReason, LeftReason, PolicyReason } from './agent/policy/reasons.ts';
export type { ProjectionMeta } from './agent/policy/budget.ts';
export type { CompactionResult, CompactOptions } from './runs/operations/contexts/compact.ts';
export type { DiffRow } from './database/store/context/context-diff.ts';
export type { PrefixBreak } from './runs/operations/contexts/prefix-break.ts';
export type { ModelCall } from './runs/operations/contexts/calls.ts';
export type { CallReplay, ReplayCallOptions } from './runs/operations/contexts/replay-call.ts';
export type { Lane } from './database/store/context/read-lanes.ts';
export type { OperationReceipt } from './database/store/context/apply-operation.ts';
export type { AnswerCut, OnCut } from './agent/context/cut.ts';
export type {
  ContentPart,
  Json,
  JsonObject,
  Message,
  ModelTurn,
  Role,
  ToolCall,
  Usage,
} from './agent/context/message.ts';
export { foldContext, type ContextRow, type FoldEntry } from './agent/context/fold.ts';
export { contextHash } from './agent/context/canonical.ts';

// Workers, the server, and what they do now
export type {
  EndedRun,
  RunningWorker,
  StopReport,
  UnreadyReason,
  WorkerHealth,
  WorkerOptions,
} from './worker/process/options.ts';
export { startServer } from './lanefold/start-server.ts';
export type { RunningServer, ServerOptions } from './server/options.ts';
export type { AgentSummary } from './runs/operations/agents/agents.ts';
export type { FleetActivity } from './runs/operations/fleet/activity.ts';
export type { FleetHealth, FleetStats } from './runs/operations/fleet/health.ts';
export type { AgentVersions, ListedVersion } from './runs/operations/agents/versions.ts';
export type { ListedRollout, RolloutOwner, Rollouts } from './runs/operations/agents/rollouts.ts';
export type { RolloutDefinition } from './agent/definition/read-rollout.ts';
export type { StoredRollout } from './database/store/agent/rollouts.ts';
export type { Rollout } from './agent/definition/rollout.ts';
export type { VersionChange } from './agent/definition/diff-versions.ts';
export type { StoredVersion } from './database/store/agent/versions.ts';
export type { Workers } from './runs/operations/fleet/workers.ts';
export type { FleetCounts, ListedWorker, WorkerState } from './database/store/worker/list-workers.ts';
export type { UnattendedRuns } from './runs/fleet/unattended.ts';
export type { UnknownAgent } from './database/store/run/find-unknown-agents.ts';

// Errors
export { errorStatus, isLanefoldError, LanefoldError, type ErrorCode } from './base/errors.ts';
