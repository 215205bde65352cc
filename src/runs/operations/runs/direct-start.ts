import type { JsonObject } from '../../../agent/context/message.ts';
import { isLanefoldError } from '../../../base/errors.ts';
import { isTransient } from '../../../database/postgres/errors.ts';
import type { Claim, Refusal } from '../../../database/store/run/claim-run.ts';
import type { EnqueuedRun } from '../../../database/store/run/enqueue-run.ts';

/** A run that is about to be accepted. */
export interface NewRun {
  threadId: string;
  runId: string;
  agent: string;
  shard: number;
}

/** A place for a run in a worker. Call one of its methods, once. */
export interface Place {
  /** What `enqueue_run` needs for the claim. */
  claim: JsonObject;
  /** The run was accepted, and its claim answered. */
  fill(answer: Claim | Refusal): void;
  /** The run was not claimed: it was rejected, is a duplicate, or takes its way through the queue. */
  leave(): void;
}

/** A worker in this process, which can take a run in the statement that accepts it. */
export interface DirectWorker {
  /** Undefined: the run takes its way through the queue. */
  reserve(run: NewRun): Promise<Place | undefined>;
}

/** Sends a request with the claim of the first worker that has a place for its run, if any has. */
export async function startDirectly(
  workers: Iterable<DirectWorker>,
  run: NewRun,
  send: (claim?: JsonObject) => Promise<EnqueuedRun>,
): Promise<EnqueuedRun> {
  const place = await findPlace(workers, run);
  if (!place) return send();
  let accepted: EnqueuedRun;
  try {
    accepted = await send(place.claim);
  } catch (error) {
    place.leave();
    // if the claim caused it, the run is accepted as any other, and ends with that error
    if (isLanefoldError(error, 'database_error') && !isTransient(error)) return send();
    throw error;
  }
  if (accepted.claim) place.fill(accepted.claim);
  else place.leave();
  return accepted;
}

async function findPlace(workers: Iterable<DirectWorker>, run: NewRun): Promise<Place | undefined> {
  for (const worker of workers) {
    const place = await worker.reserve(run);
    if (place) return place;
  }
  return undefined;
}
