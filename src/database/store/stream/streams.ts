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
  const text = 'select c.answer from lanefold.create_stream($1, $2, $3, $4) as c (answer)';
  const values = [threadId ?? null, name, stream, data];
  return (await db.queryLocking<{ answer: Created }>('create_stream', text, values))[0]!.answer;
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
  const text = 'select a.answer from lanefold.append_stream($1, $2, $3, $4) as a (answer)';
  const values = [threadId ?? null, name, append, data ?? null];
  return (await db.queryLocking<{ answer: Appended }>('append_stream', text, values))[0]!.answer;
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
  const text = 'select stream, data, next::float8 as next from lanefold.read_stream($1, $2, $3, $4)';
  const values = [threadId ?? null, name, from ?? null, bytes];
  return (await db.query<ReadPage & Record<string, unknown>>('read_stream', text, values))[0]!;
}

/** See `delete_stream`. */
export async function deleteStream(
  db: Database,
  { threadId, name }: StreamRef,
): Promise<'deleted' | 'missing' | 'gone'> {
  const text = 'select d.answer from lanefold.delete_stream($1, $2) as d (answer)';
  const values = [threadId ?? null, name];
  return (await db.queryLocking<{ answer: 'deleted' | 'missing' | 'gone' }>('delete_stream', text, values))[0]!.answer;
}

/** Deletes expired streams, up to `most`; returns how many. */
export async function dropExpiredStreams(db: Database, most: number): Promise<number> {
  const text = 'select lanefold.drop_expired_streams($1) as dropped';
  return (await db.query<{ dropped: number }>('drop_expired_streams', text, [most]))[0]!.dropped;
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
