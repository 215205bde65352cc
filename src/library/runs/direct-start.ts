import type { JsonObject } from '../../context/message.ts';
import type { Claim, Refusal } from '../../store/run/claim-run.ts';

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
  /** The run was not accepted, or waits for its turn. */
  leave(): void;
}

/** A worker in this process, which can take a run in the statement that accepts it. */
export interface DirectWorker {
  /** Undefined: the run takes its way through the queue. */
  reserve(run: NewRun): Promise<Place | undefined>;
}

/** Reserves a place for a run in the first worker that has one. */
export async function reservePlace(workers: Iterable<DirectWorker>, run: NewRun): Promise<Place | undefined> {
  for (const worker of workers) {
    const place = await worker.reserve(run);
    if (place) return place;
  }
  return undefined;
}
