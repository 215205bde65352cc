import type pg from 'pg';
import type { Connections } from '../postgres/node-guard.ts';

/** Where threads are, and how statements name them. */
export interface Placements {
  /** In the order of their hashes. */
  shards: readonly Shard[];
  /** Tables with threads, and views of them. */
  relations: ReadonlySet<string>;
  /** Functions that the node of their first argument, a thread, executes. */
  functions: ReadonlySet<string>;
  /** Functions that need every node: they write what all nodes have a copy of, or read several threads. */
  everywhere: ReadonlySet<string>;
  /** Functions that the node of a thread carries out as a whole, with all that they call. */
  delegated: ReadonlySet<string>;
}

/** The threads whose ids have a hash up to this one, and above that of the shard before. */
export interface Shard {
  upTo: number;
  host: string;
  port: number;
}

export const nameOf = ({ host, port }: Pick<Shard, 'host' | 'port'>): string => `${host}:${port}`;

/** The shard of a hash; undefined if there are no shards. */
export function shardAt(shards: readonly Shard[], hash: number): Shard | undefined {
  let low = 0;
  let high = shards.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (hash <= shards[middle]!.upTo) high = middle;
    else low = middle + 1;
  }
  return shards[low];
}

const rotate = (x: number, by: number): number => (x << by) | (x >>> (32 - by));

/**
 * The hash that PostgreSQL computes of a text with a deterministic collation (`hashtext`), as an int4: it decides which
 * shard has a thread. It is Bob Jenkins's lookup3, which PostgreSQL cannot change without rebuilding hash indexes.
 */
export function hashText(text: string): number {
  const key = Buffer.from(text);
  let a = (0x9e3779b9 + key.length + 3_923_095) | 0;
  let b = a;
  let c = a;
  let at = 0;
  for (; key.length - at >= 12; at += 12) {
    a = (a + key.readInt32LE(at)) | 0;
    b = (b + key.readInt32LE(at + 4)) | 0;
    c = (c + key.readInt32LE(at + 8)) | 0;
    a = ((a - c) | 0) ^ rotate(c, 4);
    c = (c + b) | 0;
    b = ((b - a) | 0) ^ rotate(a, 6);
    a = (a + c) | 0;
    c = ((c - b) | 0) ^ rotate(b, 8);
    b = (b + a) | 0;
    a = ((a - c) | 0) ^ rotate(c, 16);
    c = (c + b) | 0;
    b = ((b - a) | 0) ^ rotate(a, 19);
    a = (a + c) | 0;
    c = ((c - b) | 0) ^ rotate(b, 4);
    b = (b + a) | 0;
  }
  const byte = (n: number, to: number): number => (key[at + n] ?? 0) << to;
  a = (a + (byte(0, 0) | byte(1, 8) | byte(2, 16) | byte(3, 24))) | 0;
  b = (b + (byte(4, 0) | byte(5, 8) | byte(6, 16) | byte(7, 24))) | 0;
  // the lowest byte of c is reserved for the length
  c = (c + (byte(8, 8) | byte(9, 16) | byte(10, 24))) | 0;
  c = ((c ^ b) - rotate(b, 14)) | 0;
  a = ((a ^ c) - rotate(c, 11)) | 0;
  b = ((b ^ a) - rotate(a, 25)) | 0;
  c = ((c ^ b) - rotate(b, 16)) | 0;
  a = ((a ^ c) - rotate(c, 4)) | 0;
  b = ((b ^ a) - rotate(a, 14)) | 0;
  return ((c ^ b) - rotate(b, 24)) | 0;
}

/** Lends a connection of a pool for one statement, and can break it while the statement waits for its answer. */
export class Lending implements Connections {
  #client: pg.PoolClient | undefined;
  /** `performance.now()` when the statement got its connection. */
  lentAt: number | undefined;
  isCut = false;

  constructor(private readonly pool: pg.Pool) {}

  async connect(): Promise<pg.PoolClient> {
    const client = await this.pool.connect();
    this.#client = client;
    this.lentAt = performance.now();
    if (this.isCut) this.#break();
    return client;
  }

  async query(query: { text: string; values?: unknown[]; name?: string }) {
    const client = await this.connect();
    let fault: Error | undefined;
    try {
      return await client.query<Record<string, unknown>>(query);
    } catch (error) {
      fault = error as Error;
      throw error;
    } finally {
      client.release(fault);
    }
  }

  /** Breaks the connection: the server cannot be told to give up, because it waits for the node itself. */
  cut(): void {
    this.isCut = true;
    this.#break();
  }

  #break(): void {
    const { connection } = (this.#client ?? {}) as { connection?: { stream: { destroy(): void } } };
    connection?.stream.destroy();
  }
}
