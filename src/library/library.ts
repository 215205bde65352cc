import type { RunQueue } from '../queue/queue.ts';
import type { Audit, Keys } from './keys.ts';
import type { PendingApproval } from '../store/approval/list-approvals.ts';
import type { Page } from '../store/page.ts';
import type { Activity } from '../store/run/read-activity.ts';
import type { AgentSummary } from './agents.ts';
import type { Contexts } from './contexts.ts';
import type { Health, Stats } from './health.ts';
import type { Runs } from './runs.ts';
import type { Streams } from '../streams/open.ts';
import type { Threads } from './threads.ts';

/** Every operation that needs no worker; the HTTP API is built on it. */
export interface Library {
  readonly threads: Threads;
  readonly runs: Runs;
  readonly contexts: Contexts;
  /** API keys with scopes, and tokens for browsers. */
  readonly keys: Keys;
  /** Who did what that others must answer for. */
  readonly audit: Audit;
  /** The agents this process knows. */
  readonly agents: { list(): AgentSummary[] };
  /** Tool calls that wait for human approval, over all threads, those that expire first first; `limit` counts runs. */
  readonly approvals: { list(options?: { after?: string; limit?: number }): Promise<Page<PendingApproval>> };
  /** Whether the database and the queue answer; never rejects. */
  health(): Promise<Health>;
  /** Counts of unfinished runs and of jobs. */
  stats(): Promise<Stats>;
  /** Workers, errors and tokens of the last `hours` (default 24). */
  activity(options?: { hours?: number }): Promise<Activity>;
  /** Live streams: like `runs.stream` and `threads.stream`, with errors thrown before the first item. */
  readonly streams: Streams;
  /** Hides the values of `redactKeys` in what is shown to people, as in traces. */
  redact<T>(value: T): T;
  readonly databaseUrl: string;
  readonly queueBackend: 'redis' | 'postgres';
  /** The BullMQ queues, one per shard; for inspection. */
  readonly queues: RunQueue['queues'];
  /** Every tool a thread may register. */
  readonly toolNames: readonly string[];
}
