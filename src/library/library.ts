import type { RunQueue } from '../queue/queue.ts';
import type { Contexts } from './contexts.ts';
import type { Health, Stats } from './health.ts';
import type { Runs } from './runs.ts';
import type { Streams } from '../streams/open.ts';
import type { Threads } from './threads.ts';

/** What can be asked and told without running anything: all the HTTP API is made of. */
export interface Client {
  readonly threads: Threads;
  readonly runs: Runs;
  readonly contexts: Contexts;
  /** What the database and the queue have to say; never rejects. */
  health(): Promise<Health>;
  /** Counts of what is under way. */
  stats(): Promise<Stats>;
  /** Live streams: `runs.stream` and `threads.stream` for those who must know of a mistake before the first item. */
  readonly streams: Streams;
  readonly databaseUrl: string;
  readonly queueBackend: 'redis' | 'postgres';
  /** The BullMQ queues, one per shard; for inspection. */
  readonly queues: RunQueue['queues'];
  /** Every tool a thread may register. */
  readonly toolNames: readonly string[];
}
