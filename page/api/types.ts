import type { components } from './openapi.d.ts';

export type { Json, JsonObject } from './openapi.d.ts';

type Schemas = components['schemas'];

export type Activity = Schemas['Activity'];
export type AgentList = Schemas['AgentList'];
export type AgentVersion = Schemas['AgentVersion'];
export type AgentVersionDiff = Schemas['AgentVersionDiff'];
export type AgentVersionList = Schemas['AgentVersionList'];
export type Alarm = Schemas['Alarm'];
export type AlarmCount = Schemas['AlarmCount'];
export type AlarmCountList = Schemas['AlarmCountList'];
export type AlarmList = Schemas['AlarmList'];
export type ApprovalPage = Schemas['ApprovalPage'];
export type AwaitedCall = Pick<Schemas['Approval'], 'round' | 'index' | 'name' | 'arguments'>;
export type Branch = Schemas['Branch'];
export type BranchList = Schemas['BranchList'];
export type BranchReceipt = Schemas['BranchReceipt'];
export type BulkReceipt = Schemas['BulkReceipt'];
export type Case = Schemas['Case'];
export type CaseList = Schemas['CaseList'];
export type Circuit = Schemas['Circuit'];
export type CircuitList = Schemas['CircuitList'];
export type Config = Schemas['Config'];
export type Context = Schemas['Context'];
export type ContextMessage = Schemas['ContextMessage'];
export type Cost = Pick<Thread, 'cost' | 'unpriced_tokens'>;
export type DatasetList = Schemas['DatasetList'];
export type Entry = Schemas['Entry'];
export type EntryPage = Schemas['EntryPage'];
export type Eval = Schemas['Eval'];
export type EvalItem = Schemas['EvalItem'];
export type EvalItemList = Schemas['EvalItemList'];
export type EvalList = Schemas['EvalList'];
export type ErasureReport = Schemas['ErasureReport'];
export type ExplainedMessage = Schemas['ExplainedMessage'];
export type Input = Schemas['Input'];
export type InputPage = Schemas['InputPage'];
export type Lane = Schemas['Lane'];
export type LaneList = Schemas['LaneList'];
export type LimitList = Schemas['LimitList'];
export type LimitHolder = Schemas['LimitHolder'];
export type LimitUse = Schemas['LimitUse'];
export type ListedRun = Schemas['ListedRun'];
export type Mark = Schemas['Mark'];
export type RunCounts = components['schemas']['RunCounts'];
export type MarkCount = Schemas['MarkCount'];
export type MarkList = Schemas['MarkList'];
export type Monitor = Schemas['Monitor'];
export type MonitorList = Schemas['MonitorList'];
export type ModelCall = Schemas['ModelCall'];
export type NewLimit = Schemas['NewLimit'];
export type OperationReceipt = Schemas['OperationReceipt'];
export type Problem = Schemas['Problem'];
export type Rollout = Schemas['Rollout'];
export type RolloutList = Schemas['RolloutList'];
export type Run = Schemas['Run'];
export type RunEvent = Schemas['RunEvent'];
export type RunEventPage = Schemas['RunEventPage'];
export type RunNode = Schemas['RunNode'];
export type RunNodePage = Schemas['RunNodePage'];
export type RunPage = Schemas['RunPage'];
export type RunScore = Schemas['RunScore'];
export type RunScoreList = Schemas['RunScoreList'];
export type RunSnapshot = Schemas['RunSnapshot'];
export type RunStatus = Schemas['RunStatus'];
export type RunTree = Schemas['RunTree'];
export type RunWait = Schemas['RunWait'];
export type TreeMessage = Schemas['TreeMessage'];
export type TreePage = Schemas['TreePage'];
export type TreeRun = Schemas['TreeRun'];
export type Schedule = Schemas['Schedule'];
export type ScheduleList = Schemas['ScheduleList'];
export type ScheduleSlotList = Schemas['ScheduleSlotList'];
export type Webhook = Schemas['Webhook'];
export type WebhookSet = Schemas['WebhookSet'];
export type WebhookList = Schemas['WebhookList'];
export type WebhookDelivery = Schemas['WebhookDelivery'];
export type WebhookDeliveryList = Schemas['WebhookDeliveryList'];
export type Thread = Schemas['Thread'];
export type ThreadSummary = Schemas['ThreadSummary'];
export type ToolCall = Schemas['ToolCall'];
export type UsedLimit = Schemas['UsedLimit'];
export type Worker = Schemas['Worker'];
export type WorkerList = Schemas['WorkerList'];

/** A message of a call, of the log, or of a context, which has null where the others leave a field out. */
export type Message =
  | Schemas['SentMessage']
  | Pick<Schemas['ContextMessage'], 'role' | 'content' | 'tool_calls' | 'tool_call_id' | 'name' | 'thinking'>;

/** A page of a list that the page shows as a table. */
export type Page<T> = Omit<RunPage, 'data'> & { data: T[] };
