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

/** How often a process that serves streams looks for expired ones, and how many it deletes at once. */
const dropEveryMs = 60_000;
const dropAtOnce = 100;

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

export function openDoor(lanefold: TenantLibrary): StreamDoor {
  const db = databaseOf(lanefold, 'A durable stream');
  let shared = sharedOf.get(db);
  if (!shared) sharedOf.set(db, (shared = { tails: new Tails(db), dropAt: 0 }));
  const { tails } = shared;
  dropExpired(db, shared);
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
function dropExpired(db: Database, shared: Shared): void {
  const now = performance.now();
  if (now < shared.dropAt) return;
  shared.dropAt = now + dropEveryMs;
  void dropExpiredStreams(db, dropAtOnce)
    .then((dropped) => {
      if (dropped === dropAtOnce) shared.dropAt = 0;
    })
    .catch(() => {});
}
