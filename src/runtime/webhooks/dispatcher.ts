import type { Database } from '../../postgres/pool.ts';
import type { DeliveryJob, DeliveryQueue } from '../../queue/delivery-queue.ts';
import { dueDeliveries, queueDeliveries } from '../../store/webhook/due-deliveries.ts';
import type { AttemptOutcome } from '../../webhooks/definition.ts';
import { deliver } from './deliver.ts';
import type { SendOptions } from './send.ts';

/** After this, a job that was lost is added again, in ms. */
const againMs = 30_000;
/**
 * How many deliveries of one endpoint are in flight in all workers together: half of what one worker sends at once, so that
 * an endpoint that hangs leaves room for others. Of one that fails, one, which a sweep chooses.
 */
const each = 10;
const failing = 1;
/** Handed to the queue at once. */
const most = 500;
/** How long a worker that stops waits for the answers of its attempts, in ms. */
const lastAnswersMs = 2_000;

export interface DispatcherDependencies {
  db: Database;
  openQueue: () => DeliveryQueue;
  send: Omit<SendOptions, 'stop'>;
  onError: (error: unknown) => void;
  onAttempt: (outcome: AttemptOutcome) => void;
}

/** Hands deliveries to the queue when they are due, and makes the attempts. Opens the queue once there is something to send. */
export class Dispatcher {
  #queue: Promise<DeliveryQueue> | undefined;
  #looking: Promise<void> | undefined;
  /** What the next look is for: all endpoints, those that fail too, or only these. */
  #wanted = { all: false, sweep: false, only: new Set<string>() };
  #closed = false;
  readonly #stop = new AbortController();

  constructor(private readonly deps: DispatcherDependencies) {}

  /**
   * Looks what is due. Calls during a look lead to one more.
   *
   * @param sweeping also at endpoints whose last attempt failed
   */
  look(sweeping = false): Promise<void> {
    this.#wanted.all = true;
    this.#wanted.sweep ||= sweeping;
    return this.#begin();
  }

  /** Attempts that are not answered soon are ended; other workers make them again. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#looking;
    const patience = setTimeout(() => this.#stop.abort(), lastAnswersMs);
    await (await this.#queue?.catch(() => undefined))?.close();
    clearTimeout(patience);
  }

  #begin(): Promise<void> {
    if (!this.#looking && this.#mayLook()) this.#looking = this.#look().finally(() => this.#looked());
    return this.#looking ?? Promise.resolve();
  }

  /** A call may have come after the last look was over, and before this. */
  #looked(): void {
    this.#looking = undefined;
    void this.#begin();
  }

  #mayLook(): boolean {
    return !this.#closed && (this.#wanted.all || this.#wanted.only.size > 0);
  }

  async #look(): Promise<void> {
    while (this.#mayLook()) {
      const { all, sweep, only } = this.#wanted;
      this.#wanted = { all: false, sweep: false, only: new Set() };
      await this.#dispatch(sweep, all ? undefined : [...only]).catch(this.deps.onError);
    }
  }

  async #dispatch(sweeping: boolean, only: string[] | undefined): Promise<void> {
    const { db } = this.deps;
    const due = await dueDeliveries(db, { each, failing: sweeping ? failing : 0, most }, only);
    if (due.length === 0) return;
    // before the rows are handed over: without a queue no worker would look at them for a while
    const queue = await this.#open();
    const own = await queueDeliveries(db, due, againMs);
    if (own.length > 0) await queue.add(own);
    if (due.length >= most) this.#wanted.all = true;
  }

  #open(): Promise<DeliveryQueue> {
    this.#queue ??= this.#start().catch((error: unknown) => {
      this.#queue = undefined;
      throw error;
    });
    return this.#queue;
  }

  async #start(): Promise<DeliveryQueue> {
    const queue = this.deps.openQueue();
    try {
      await queue.work((job) => this.#deliver(job));
      return queue;
    } catch (error) {
      await queue.close().catch(() => {});
      throw error;
    }
  }

  /** An attempt that could not be recorded is made again once its lease is over. */
  async #deliver(job: DeliveryJob): Promise<void> {
    const { db, send, onError } = this.deps;
    const end = await deliver(db, job, { ...send, stop: this.#stop.signal }).catch(onError);
    if (!end) return;
    this.deps.onAttempt(end.outcome);
    // the next of its endpoint may go
    this.#wanted.only.add(end.webhookId);
    void this.#begin();
  }
}
