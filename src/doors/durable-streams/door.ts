import { databaseOf } from '../../features/library/internals.ts';
import type { TenantLibrary } from '../../features/library/library.ts';
import type { Database } from '../../database/postgres/pool.ts';
import {
  deleteStream,
  dropExpiredStreams,
  type StreamRef,
  appendStream,
  createStream,
  type NewStream,
} from '../../database/store/stream/streams.ts';
import {
  type Answer,
  streamHeaders,
  streamDeleted,
  streamNotFound,
  invalid,
  withHeaders,
  type Readable,
  jsonType,
  toData,
} from './protocol.ts';
import {
  type StreamRequest,
  isTrue,
  readContentType,
  readProducer,
  readSeq,
  readFork,
  readLifetime,
  type ForkHeaders,
} from './request.ts';
import { StoredReader, Tails } from './stored.ts';
import { TraceReader } from './trace.ts';
import { idGrammar } from '../../base/checks/ids.ts';
import { LanefoldError } from '../../base/errors.ts';

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

/** Opens the stream that a fork is made of. */
type OpenSource = (source: Source) => Readable;

/** What a path names: a stream, or the trace of the thread or one of its runs. */
type Source = { name: string } | { runId: string | undefined };

/** Creates a stream, or finds the one that the same request created before. */
async function create(
  db: Database,
  ref: StreamRef,
  { url, header, body }: StreamRequest,
  open: OpenSource,
): Promise<Answer> {
  const type = readContentType(header);
  const fork = readFork(header);
  const asked = {
    ...readLifetime(header),
    from: fork?.from ?? null,
    offset: fork?.offset ?? null,
    sub_offset: fork?.subOffset ?? 0,
  };
  const source = fork && sourceOf(ref, fork);
  const given = source && (await readSource(open(source), fork!, source, type?.media));
  const media = type?.media ?? (fork && body.byteLength > 0 ? (await open(source!).head()).mediaType : undefined);
  const stream: NewStream = {
    content_type: type?.full ?? given?.contentType ?? null,
    media_type: type?.media ?? given?.mediaType ?? null,
    closed: isTrue(header('stream-closed')),
    asked,
    ...(given ? { source: given.source } : {}),
  };
  const created = await createStream(db, ref, stream, toData(body, media ?? 'application/octet-stream'));
  switch (created.status) {
    case 'source_missing':
      throw streamNotFound(asked.from!);
    case 'source_gone':
      throw new LanefoldError('stream_conflict', `The source ${asked.from} was deleted.`, {
        hint: 'Fork a stream that was not deleted, such as one of its forks.',
      });
    case 'source_type':
      throw typeMismatch();
    case 'too_deep':
      throw new LanefoldError('stream_conflict', `The source ${asked.from} is a fork of a fork, 100 times over.`, {
        hint: 'Nothing was written. Fork one of the streams that it was forked from, or copy the data into a new stream.',
      });
    case 'bad_offset':
    case 'bad_sub_offset':
      throw beyondSource();
    case 'conflict':
      throw new LanefoldError('stream_exists', `The name ${ref.name} is taken.`, {
        hint: 'The stream was created with another type, lifetime, source or state, or is deleted but still needed by forks.',
      });
    default: {
      const headers = { ...streamHeaders(created), 'Content-Type': created.content_type };
      if (created.status === 'exists') return { status: 200, headers };
      return { status: 201, headers: { ...headers, Location: url.origin + url.pathname } };
    }
  }
}

/** For a trace, whether there is such a position is known here; for a stream, the database checks it. */
async function readSource(reader: Readable, fork: ForkHeaders, source: Source, media: string | undefined) {
  if ('name' in source) return { source: { name: source.name, at: fork.offset }, contentType: null, mediaType: null };
  if (media !== undefined && media !== jsonType) throw typeMismatch();
  if (fork.subOffset > 0)
    throw invalid('Each event of a trace has an offset.', 'Fork at the offset after the event, without a sub-offset.');
  const { next: tail } = await reader.head();
  const at = fork.offset ?? tail;
  if (at > tail) throw beyondSource();
  return { source: { run_id: source.runId ?? null, at }, contentType: jsonType, mediaType: jsonType };
}

/** A fork belongs to the thread of its source, if it has one: so it is erased with the thread, and no other thread's key reads it. */
function sourceOf({ threadId }: StreamRef, { from }: ForkHeaders): Source {
  const parts = from.split('/').map(decoded);
  const own = threadId === undefined ? ['', 'v1', 'stream'] : ['', 'v1', 'threads', threadId];
  const rest = own.every((part, at) => parts[at] === part) ? parts.slice(own.length) : [];
  if (rest.every((part) => idGrammar.test(part))) {
    const [kind, name, last] = rest;
    if (threadId === undefined && rest.length === 1) return { name: kind! };
    if (threadId !== undefined && rest.length === 2 && kind === 'streams') return { name: name! };
    if (threadId !== undefined && rest.length === 1 && kind === 'stream') return { runId: undefined };
    if (threadId !== undefined && rest.length === 3 && kind === 'runs' && last === 'stream') return { runId: name! };
  }
  throw invalid(
    `${from.slice(0, 200)} is not the path of a stream that can be forked here.`,
    'Fork a stream of the same thread, or a stream without a thread into another one, and send its path.',
  );
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

const beyondSource = (): LanefoldError =>
  invalid('The source has no such position.', 'Fork at a Stream-Next-Offset of the source, or at its end.');

const typeMismatch = (): LanefoldError =>
  new LanefoldError('stream_type_mismatch', 'The Content-Type differs from the type of the stream.', {
    hint: 'Nothing was written. Send the Content-Type that HEAD returns.',
  });
