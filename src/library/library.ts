import type { Logger } from '../log/logger.ts';
import type { RunQueue } from '../queue/queue.ts';
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
  /** Whether the database and the queue answer; never rejects. */
  health(): Promise<Health>;
  /** Counts of unfinished runs and of jobs. */
  stats(): Promise<Stats>;
  /** Live streams: like `runs.stream` and `threads.stream`, with errors thrown before the first item. */
  readonly streams: Streams;
  /** Where this process logs; redacted. */
  readonly log: Logger;
  readonly databaseUrl: string;
  readonly queueBackend: 'redis' | 'postgres';
  /** The BullMQ queues, one per shard; for inspection. */
  readonly queues: RunQueue['queues'];
  /** Every tool a thread may register. */
  readonly toolNames: readonly string[];
}
