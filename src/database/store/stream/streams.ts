import { call, callRows } from '../call.ts';
import type { Database } from '../../postgres/pool.ts';

/** A stream: the thread it belongs to, if it does, and its name. */
export interface StreamRef {
  threadId: string | undefined;
  name: string;
}

/** What is stored of a stream. */
export interface StoredStream {
  id: number;
  /** The position after its last data. */
  tail: number;
  closed: boolean;
  content_type: string;
  media_type: string;
  ttl_s: number | null;
  ends_at: string | null;
}

/** What the creator of a stream asked for; asking again for the same finds the stream. */
export interface AskedStream {
  ttl_s: number | null;
  ends_at: string | null;
  /** The path of the source of a fork. */
  from: string | null;
  offset: number | null;
  sub_offset: number;
}

export interface NewStream {
  content_type: string | null;
  media_type: string | null;
  closed: boolean;
  asked: AskedStream;
  /** A stream, or a trace: of a run, or with null of the thread. `at`: where it leaves its source; default: the tail. */
  source?: { name: string; at: number | null } | { run_id: string | null; at: number };
}

export type Created =
  | ({ status: 'created' | 'exists' | 'conflict' } & StoredStream)
  | { status: 'source_missing' | 'source_gone' | 'source_type' | 'bad_offset' | 'bad_sub_offset' | 'too_deep' };

/** See `create_stream`. @param data the messages, or the bytes as the only element */
export async function createStream(
  db: Database,
  { threadId, name }: StreamRef,
  stream: NewStream,
  data: Buffer[],
): Promise<Created> {
  return (await call(db.queryLocking, 'create_stream', { thread: threadId ?? null, name, p: stream, data })) as Created;
}

/** The fence of a producer. */
export interface Producer {
  id: string;
  epoch: number;
  seq: number;
}

export interface Append {
  media_type: string | undefined;
  /** The `Stream-Seq`. */
  seq: string | undefined;
  producer: Producer | undefined;
  close: boolean;
}

export type Appended =
  | { status: 'missing' }
  | { status: 'gone' }
  | ({ status: 'appended' | 'duplicate'; epoch: number | null; seq: number | null } & StoredStream)
  | ({ status: 'closed' | 'wrong_type' | 'bad_epoch' | 'old_seq' } & StoredStream)
  | ({ status: 'stale_epoch'; epoch: number } & StoredStream)
  | ({ status: 'gap'; expected: number } & StoredStream);

/** See `append_stream`. @param data undefined: only close it */
export async function appendStream(
  db: Database,
  { threadId, name }: StreamRef,
  append: Append,
  data: Buffer[] | undefined,
): Promise<Appended> {
  return (await call(db.queryLocking, 'append_stream', {
    thread: threadId ?? null,
    name,
    p: append,
    data: data ?? null,
  })) as Appended;
}

export type ReadStream =
  | { status: 'missing' }
  | { status: 'gone' }
  | ({ status: 'beyond' } & StoredStream)
  | ({ status: 'ok'; trace?: { run_id: string | null; from: number; upto: number } } & StoredStream);

export interface ReadPage {
  stream: ReadStream;
  data: Buffer | null;
  next: number;
}

/** See `read_stream`. @param from undefined: the tail. @param bytes of a page; 0: no data, and it is no read */
export async function readStream(
  db: Database,
  { threadId, name }: StreamRef,
  from: number | undefined,
  bytes: number,
): Promise<ReadPage> {
  const [page] = await callRows(db.query, 'read_stream', { thread: threadId ?? null, name, from: from ?? null, bytes });
  return page as ReadPage;
}

/** See `delete_stream`. */
export async function deleteStream(
  db: Database,
  { threadId, name }: StreamRef,
): Promise<'deleted' | 'missing' | 'gone'> {
  return (await call(db.queryLocking, 'delete_stream', { thread: threadId ?? null, name })) as
    'deleted' | 'missing' | 'gone';
}

/** Deletes expired streams, up to `most`; returns how many. */
export async function dropExpiredStreams(db: Database, most: number): Promise<number> {
  return await call(db.query, 'drop_expired_streams', { most });
}

/** The tails of open streams, by id; those that are closed, deleted or expired are left out. */
export async function readTails(db: Database, ids: readonly number[]): Promise<Map<number, number>> {
  const rows = await db.query<{ id: number; tail: number }>(
    'stream_tails',
    `select id::float8 as id, tail::float8 as tail from lanefold._stream
     where id = any ($1::bigint[]) and closed_at is null and deleted_at is null
       and (expires_at is null or expires_at > (select lanefold._now()))`,
    [ids],
  );
  return new Map(rows.map(({ id, tail }) => [id, tail]));
}
