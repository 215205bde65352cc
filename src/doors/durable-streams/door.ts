import { databaseOf } from '../../features/library/database-of.ts';
import type { TenantLibrary } from '../../features/library/library.ts';
import type { Database } from '../../database/postgres/pool.ts';
import { deleteStream, dropExpiredStreams, type StreamRef, appendStream } from '../../database/store/stream/streams.ts';
import { type Answer, streamHeaders } from './answer.ts';
import { create, typeMismatch } from './create.ts';
import { streamDeleted, streamNotFound, invalid, withHeaders } from './errors.ts';
import type { Readable } from './page.ts';
import { type StreamRequest, isTrue, readContentType, readProducer, readSeq } from './request.ts';
import { StoredReader } from './stored.ts';
import { Tails } from './tails.ts';
import { TraceReader } from './trace.ts';
import { jsonType, toData } from './messages.ts';

/** How often a process that serves streams looks for expired ones, and how many rows it deletes in one transaction. */
const dropEveryMs = 60_000;
const dropAtOnce = 1_000;

/** The streams of one library. */
export interface StreamDoor {
  create(ref: StreamRef, request: StreamRequest): Promise<Answer>;
  append(ref: StreamRef, request: StreamRequest): Promise<Answer>;
  delete(ref: StreamRef): Promise<void>;
  stream(ref: StreamRef): Readable;
  /** The trace of a run, or of all runs of the thread. */
  trace(threadId: string, runId: string | undefined): Readable;
}

interface Shared {
  tails: Tails;
  /** When expired streams are deleted again. */
  dropAt: number;
}

const sharedOf = new WeakMap<Database, Shared>();

/** @param onError learns why expired streams could not be deleted */
export function openDoor(lanefold: TenantLibrary, onError: (error: unknown) => void): StreamDoor {
  const db = databaseOf(lanefold, 'A durable stream');
  let shared = sharedOf.get(db);
  if (!shared) sharedOf.set(db, (shared = { tails: new Tails(db), dropAt: 0 }));
  const { tails } = shared;
  dropExpired(db, shared, onError);
  const stream = (ref: StreamRef) => new StoredReader(db, ref, tails);
  const trace = (threadId: string, runId: string | undefined) => new TraceReader(lanefold, db, threadId, runId);
  return {
    stream,
    trace,
    create: (ref, request) =>
      create(db, ref, request, (source) =>
        'name' in source ? stream({ ...ref, name: source.name }) : trace(ref.threadId!, source.runId),
      ),
    append: (ref, request) => append(db, ref, request, tails),
    async delete(ref) {
      const answer = await deleteStream(db, ref);
      if (answer === 'missing') throw streamNotFound(ref.name);
      if (answer === 'gone') throw streamDeleted(ref.name);
    },
  };
}

/** Beside the request, which finds no expired stream anyway. */
function dropExpired(db: Database, shared: Shared, onError: (error: unknown) => void): void {
  const now = performance.now();
  if (now < shared.dropAt) return;
  // no other request begins until this has ended
  shared.dropAt = Infinity;
  const dropAll = async () => {
    while ((await dropExpiredStreams(db, dropAtOnce)) > 0);
  };
  void dropAll()
    .catch(onError)
    .finally(() => (shared.dropAt = performance.now() + dropEveryMs));
}

/** Appends to a stream, closes it, or both. */
async function append(db: Database, ref: StreamRef, { header, body }: StreamRequest, tails: Tails): Promise<Answer> {
  const close = isTrue(header('stream-closed'));
  const producer = readProducer(header);
  const seq = readSeq(header);
  const empty = body.byteLength === 0;
  if (empty && !close) throw invalid('The body is empty.', 'Send data, or Stream-Closed: true to close the stream.');
  const type = empty ? undefined : readContentType(header);
  if (!empty && !type) throw invalid('The Content-Type is missing.', 'Send the one that HEAD returns.');
  const data = type && toData(body, type.media);
  if (data?.length === 0 && type?.media === jsonType)
    throw invalid('The array has no messages.', 'Send at least one, or Stream-Closed: true without a body.');
  const done = await appendStream(db, ref, { media_type: type?.media, seq, producer, close }, data);
  if (done.status === 'missing') throw streamNotFound(ref.name);
  if (done.status === 'gone') throw streamDeleted(ref.name);
  const headers = streamHeaders(done);
  switch (done.status) {
    case 'closed':
      throw withHeaders('stream_closed', `Stream ${ref.name} is closed.`, 'Nothing was written.', headers);
    case 'wrong_type':
      throw typeMismatch();
    case 'old_seq':
      throw withHeaders(
        'stream_conflict',
        'The Stream-Seq is not greater than the previous one.',
        'Nothing was written. Read what others appended, and send a higher one; they are compared byte by byte.',
        headers,
      );
    case 'gap':
      throw withHeaders(
        'stream_conflict',
        `The request ${done.expected} of producer ${producer!.id} is missing.`,
        'Nothing was written. Send the requests of a producer in order, each number once, from 0.',
        { 'Producer-Expected-Seq': String(done.expected), 'Producer-Received-Seq': String(producer!.seq) },
      );
    case 'stale_epoch':
      throw withHeaders(
        'stale_producer',
        `Producer ${producer!.id} was started again: its epoch is ${done.epoch}.`,
        'Nothing was written. Stop, or claim the name with a higher epoch and Producer-Seq 0.',
        { 'Producer-Epoch': String(done.epoch) },
      );
    case 'bad_epoch':
      throw invalid('A new epoch begins with Producer-Seq 0.', 'Nothing was written.');
    default: {
      tails.changed(done.id);
      const fence = producer && done.epoch !== null && done.seq !== null;
      if (fence) Object.assign(headers, { 'Producer-Epoch': String(done.epoch), 'Producer-Seq': String(done.seq) });
      return { status: producer && data && done.status === 'appended' ? 200 : 204, headers };
    }
  }
}
