import type { Clock } from '../../common/clock.ts';
import { Floor } from './floor.ts';
import { Looks } from './looks.ts';

export type Row = Record<string, unknown>;
export type Result = Promise<{ rows: Row[] }>;
export type Send = (text: string, values: unknown[]) => Result;
/** Sends a statement of BullMQ's as it is. */
export type AsBullMq = () => Result;

/** How late a delayed job may be added and still be noticed in time, in ms. */
const delayedLagMs = 5_000;

/**
 * What a pool knows of a queue. While a transaction keeps its snapshot, BullMQ's own statements read an index entry for
 * each job that has waited before. So usually the queue is read from a floor, and BullMQ's functions look at all of it now
 * and then: for jobs with a priority, delayed jobs that are due, and jobs added out of turn. With a worker that has a free
 * slot, such a job waits at most 20 times as long as a look takes, and at most ten seconds, until it is looked for; with
 * a worker that no notification wakes, for as long as BullMQ waits for one besides.
 */
export class KnownQueue {
  readonly floor = new Floor();
  readonly looks = new Looks();
  /** The last look was for a job to take, not only for the answer whether one waits. */
  lastTook = false;
  /** By `clock`, the time until which BullMQ has moved delayed jobs to the waiting ones. */
  promotedTo = 0;

  constructor(readonly clock: Clock) {}

  /** Delayed jobs that are still to be moved are due after this time. */
  get promotedSince(): number {
    return Math.min(this.promotedTo, this.clock.now()) - delayedLagMs;
  }
}
