import { databaseOf } from '../library/database-of.ts';
import type { TenantLibrary } from '../library/library.ts';
import type { Database } from '../postgres/pool.ts';
import { deleteStream, dropExpiredStreams, type StreamRef } from '../store/stream/streams.ts';
import { append } from './append.ts';
import type { Answer } from './answer.ts';
import { create } from './create.ts';
import { streamDeleted, streamNotFound } from './errors.ts';
import type { Readable } from './page.ts';
import type { StreamRequest } from './request.ts';
import { StoredReader } from './stored.ts';
import { Tails } from './tails.ts';
import { TraceReader } from './trace.ts';

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
