/** The tables, for Drizzle. SQL users read the views beside them: see docs and the comments in the catalog. */
export { lanefold } from './columns.ts';
export { contextOp, lane, thread } from './thread.ts';
export { appendReceipt, entry } from './entry.ts';
export { eventBatch, pendingInput, run, toolCall } from './run.ts';
export { minCompatibleVersion, schemaVersion } from './version.ts';
