/**
 * LLM agents as durable background jobs, in the order in which an application meets them.
 *
 * @module lanefold
 */

// Agents and their tools
export type { EnqueueOptions } from './runs/operations/runs/enqueue-options.ts';
export type { RunTree } from './runs/operations/runs/types.ts';
export type { RunStatus } from './database/store/run/types.ts';
export type { RunEvent } from './database/store/trace/types.ts';
export type { PendingApproval } from './database/store/wait/types.ts';
export { defineAgent, type Agent } from './agent/definition/agent.ts';
export type { AgentDefinition } from './agent/definition/definition.ts';
export { defineTool, type ToolDefinition, clientTool } from './agent/tools/define-tool.ts';
export { agentResultTool, agentTool, awaitAgent, callAgent, spawnAgent } from './agent/tools/agent-tool.ts';
export { handOff, handoffTool, type Handoff } from './agent/tools/handoff.ts';
export { type AgentTask, sleep, sleepUntil, waitFor, type Wait } from './agent/tools/wait.ts';
export type { Tool, ToolCallContext } from './agent/tools/tool.ts';
export { ToolError } from './agent/tools/tool-error.ts';
export { withEffects, type EffectPolicy } from './agent/tools/effects.ts';
export { applyEffects, type StateEffect } from './agent/context/state.ts';
export type { GuardedCall, GuardTool, GuardVerdict } from './agent/tools/judge-call.ts';
export { defineSkills } from './agent/tools/built-in-tools.ts';
export type { OutputContract } from './agent/contracts/contract.ts';
export type { ContextPolicy } from './agent/policy/types.ts';
export type { ContextProjector } from './agent/policy/projector.ts';
export type { TokenEstimator } from './agent/policy/estimate.ts';
export { policyForModel } from './agent/models/cut-context.ts';
export type { FallbackReason } from './agent/models/fallback-reason.ts';
export type { ModelFallback, ModelOption } from './agent/models/model-chain.ts';
export type { ModelName } from './agent/models/providers.ts';
export type { CallSettings } from './agent/models/settings.ts';
export type { Overridable } from './agent/definition/overridable.ts';
export type { RequestTransformer } from './agent/definition/transformer.ts';
export type { Strategy } from './agent/strategies/registry.ts';
export type { RunEventKind, RunError } from './agent/strategies/records.ts';
export type { StrategyName, StrategyOptions, StrategyTypes } from './agent/strategies/types.ts';
export type { RunResult } from './agent/definition/definition.ts';
export type { AotResult } from './agent/strategies/aot.ts';
export type { TotResult } from './agent/strategies/tot/result.ts';

// One object for a process
export { createLanefold, migrate } from './lanefold/create.ts';
export { defineLanefold, type LanefoldDefinition } from './lanefold/definition.ts';
export type { Lanefold } from './lanefold/lanefold.ts';
export type { LanefoldOptions } from './lanefold/options.ts';
export type { NewKey } from './runs/operations/access/types.ts';
export type { BrowserAccess } from './base/access/browser-token.ts';
export type { ScheduleDefinition } from './features/schedules/types.ts';
export type { WebhookDelivery } from './features/webhooks/types.ts';
export type { CircuitOptions } from './features/circuits/rule.ts';
export type { AlarmDefinition } from './features/alarms/types.ts';
export type { GivenFeedback, NewFeedback } from './features/feedback/types.ts';
export type { MonitorDefinition } from './features/monitors/types.ts';
export type { WebhookDefinition } from './features/webhooks/types.ts';
export type { EvalDefinition } from './features/evals/store/types.ts';
export type { EvalCase, NewCase } from './features/evals/types.ts';
export type { LimitDefinition } from './agent/limits/types.ts';
export type { TenantLibrary } from './features/library/library.ts';
export type { LogFacts, Logger } from './base/log/logger.ts';

// Runs: enqueue, follow, steer, approve, retry
export type { Runs } from './runs/operations/runs/runs.ts';
export type { RunOverrides } from './runs/operations/runs/check-overrides.ts';
export type { Transaction } from './database/store/transaction/within-transaction.ts';
export type { Run, RunHandle, RunRef } from './database/store/run/run.ts';
export type { PriceOf } from './agent/models/catalog.ts';
export type { StreamItem, StreamOptions } from './runs/streams/stream.ts';
export type { TreeStreamItem } from './runs/streams/tree.ts';

// Threads: conversations and their log
export type { Threads } from './runs/operations/threads/methods.ts';
export type { NewEntry } from './runs/operations/threads/append.ts';
export type { Thread, ThreadConfig } from './runs/operations/threads/types.ts';
export type { ThreadEntry } from './database/store/log/types.ts';
export type { ThreadSource } from './runs/operations/threads/import.ts';
export type { ListPage } from './database/store/rows.ts';
export type { AnswerMetadata, UiMessage } from './runs/formats/ui-messages/message.ts';
export type { ContentInput, FilePart, ImagePart } from './agent/models/accept-content.ts';

// Contexts: what the model sees, now and at any earlier point
export type { Contexts } from './runs/operations/contexts/methods.ts';
export type { ContextProjection } from './runs/operations/contexts/project.ts';
export { foldContext, type ContextRow, type FoldEntry } from './agent/context/fold.ts';
export type { ContentPart, Json, JsonObject, Message, ToolCall, Usage } from './agent/context/message.ts';
export { contextHash } from './agent/context/canonical.ts';

// Workers, the server, and what they do now
export type { EndedRun, RunningWorker, WorkerOptions } from './worker/process/options.ts';
export type { WorkReport } from './runs/operations/fleet/types.ts';
export type { WorkOptions } from './worker/process/work.ts';
export { startServer } from './lanefold/start-worker.ts';
export type { RunningServer, ServerOptions } from './server/options.ts';
export type { UnattendedRuns } from './runs/fleet/unattended.ts';
export type { UnknownAgent } from './database/store/run/find-unknown-agents.ts';

// Errors
export { errorStatus, isLanefoldError, LanefoldError, type ErrorCode } from './base/errors.ts';
