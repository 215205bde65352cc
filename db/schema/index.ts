/** The tables, for Drizzle. From SQL, read the views instead; the catalog has a comment on each. */
export { lanefold } from './columns.ts';
export { contextOp, lane, thread } from './thread.ts';
export { agentVersion, rollout } from './agent-version.ts';
export { apiKey, audit } from './access.ts';
export { content } from './content.ts';
export { appendReceipt, entry } from './entry.ts';
export { evalCase, evalItem, evalThread, evaluation } from './eval.ts';
export { schedule, scheduleSlot } from './schedule.ts';
export { limit, limitAccount, limitBucket, limitShare, limitWait } from './limit.ts';
export { monitor, runScore } from './monitor.ts';
export { role } from './role.ts';
export { eventBatch, pendingInput, run, runNode, toolCall } from './run.ts';
export { stream, streamChunk, streamProducer } from './stream.ts';
export { tenant } from './tenant.ts';
export { webhook, webhookDelivery, webhookEvent } from './webhook.ts';
export { worker } from './worker.ts';
export { childRun, keptEvent, wait } from './wait.ts';
export { minCompatibleVersion, schemaVersion } from './version.ts';
