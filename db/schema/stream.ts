import { sql } from 'drizzle-orm';
import { bigint, boolean, index, jsonb, primaryKey, text, uniqueIndex } from 'drizzle-orm/pg-core';
import { bytea, id, lanefold, moment, tenantId } from './columns.ts';

const whole = (name: string) => bigint(name, { mode: 'number' });

/**
 * Streams that clients write with the Durable Streams protocol. A position counts messages if the stream is JSON, else
 * bytes. A fork has the positions of its source up to `fork_at`, and stores only what was appended to it.
 */
export const stream = lanefold.table(
  '_stream',
  {
    id: whole('id').generatedAlwaysAsIdentity().primaryKey(),
    /** The position after the last data. */
    tail: whole('tail').notNull(),
    /** Where the own data begins; 0 if the stream is no fork. */
    forkAt: whole('fork_at').notNull().default(0),
    /** The stream it was forked from. */
    sourceId: whole('source_id'),
    /** How long it is kept after it was last read or written. */
    ttlS: whole('ttl_s'),
    createdAt: moment('created_at').notNull(),
    /** When it ends, by its time to live or by `ends_at`. */
    expiresAt: moment('expires_at'),
    /** When it ends, as its creator asked. */
    endsAt: moment('ends_at'),
    closedAt: moment('closed_at'),
    /** When it was deleted although forks still need its data. It has no `expires_at` until the last of them is removed. */
    deletedAt: moment('deleted_at'),
    tenantId: tenantId(),
    /** The thread it belongs to, and with which it is erased. */
    threadId: id('thread_id'),
    /** `<thread>/<name>`, or `/<tenant>/<name>` for a stream that belongs to no thread. */
    path: id('path').notNull(),
    name: id('name').notNull(),
    contentType: text('content_type').notNull(),
    /** The content type in lower case, without parameters. */
    mediaType: text('media_type').notNull(),
    /** Whether it was forked from a trace: that of `source_run_id`, else of the thread. */
    ofTrace: boolean('of_trace').notNull().default(false),
    sourceRunId: id('source_run_id'),
    /** What its creator asked for: {ttl_s, ends_at, from, offset, sub_offset}. */
    asked: jsonb('asked').notNull(),
    /** The `Stream-Seq` of the last append that had one. */
    lastSeq: id('last_seq'),
    /** The producer's request that closed it: {id, epoch, seq}. */
    closedBy: jsonb('closed_by'),
  },
  (t) => [
    uniqueIndex('_stream_path').on(t.path),
    index('_stream_source')
      .on(t.sourceId)
      .where(sql`source_id is not null`),
    index('_stream_thread')
      .on(t.threadId)
      .where(sql`thread_id is not null`),
    index('_stream_expiry')
      .on(t.expiresAt)
      .where(sql`expires_at is not null`),
  ],
);

/** What was appended to streams: one row for each message of a JSON stream, else for each append. */
export const streamChunk = lanefold.table(
  '_stream_chunk',
  {
    streamId: whole('stream_id').notNull(),
    pos: whole('pos').notNull(),
    /** How many positions it takes: 1 for a message, else its bytes. */
    size: whole('size').notNull(),
    /** Whether an append ends with it. */
    last: boolean('last').notNull(),
    tenantId: tenantId(),
    data: bytea('data').notNull(),
  },
  (t) => [primaryKey({ columns: [t.streamId, t.pos] })],
);

/** The fence of each producer of a stream: its epoch, and the last request of that epoch. */
export const streamProducer = lanefold.table(
  '_stream_producer',
  {
    streamId: whole('stream_id').notNull(),
    epoch: whole('epoch').notNull(),
    seq: whole('seq').notNull(),
    tenantId: tenantId(),
    producer: id('producer').notNull(),
  },
  (t) => [primaryKey({ columns: [t.streamId, t.producer] })],
);
