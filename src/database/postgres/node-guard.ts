import type pg from 'pg';
import type { Queryable } from './run-query.ts';

/** The part of a pool that statements are sent with. */
export type Connections = Queryable & Pick<pg.Pool, 'connect'>;

/** One node of a distributed database. */
export interface DatabaseNode {
  /** `host:port`. */
  readonly name: string;
  readonly host: string;
  readonly port: number;
  /** It did not answer when it was last asked. */
  readonly isDown: boolean;
}

/** Keeps a node of a distributed database that does not answer from holding up statements for other nodes. */
export interface NodeGuard {
  /**
   * Sends a statement, unless its node is down. Statements for one node use at most half of a pool, and those for all
   * nodes a fifth.
   *
   * @throws LanefoldError `database_unreachable` with the `node` in its details
   */
  send<T>(
    pool: pg.Pool,
    statement: { text: string; values: readonly unknown[] },
    send: (on: Connections) => Promise<T>,
  ): Promise<T>;
  /** The name of the node that a statement needs; empty if it needs all, undefined if it needs none. */
  nodeFor(text: string, values: readonly unknown[]): string | undefined;
  /** Whether the node of a thread carries out a function as a whole. */
  carriesOut(functionName: string): boolean;
  /** The name of the node that has a thread. */
  nodeOf(threadId: string): string;
  readonly nodes: readonly DatabaseNode[];
  close(): void;
}
