import type { Database } from '../../postgres/pool.ts';
import type { DeliveryJob, DeliveryQueue } from '../../queue/delivery-queue.ts';
import { dueDeliveries, queueDeliveries } from '../../store/webhook/due-deliveries.ts';
import { deliver } from './deliver.ts';
import type { SendOptions } from './send.ts';

/** After this, a job that was lost is added again, in ms. */
const againMs = 30_000;
/** Of one endpoint at once, so that its backlog does not keep others waiting; of one that fails, only this many a sweep. */
const each = 100;
const failing = 1;
const most = 500;

export interface DispatcherDependencies {
  db: Database;
  openQueue: () => DeliveryQueue;
  send: SendOptions;
  onError: (error: unknown) => void;
}

/** Hands deliveries to the queue when they are due, and makes the attempts. Opens the queue once there is something to send. */
export class Dispatcher {
  #queue: Promise<DeliveryQueue> | undefined;
  #looking: Promise<void> | undefined;
  #again = false;
  #swept = false;
  #closed = false;

  constructor(private readonly deps: DispatcherDependencies) {}

  /**
   * Looks what is due. Calls during a look lead to one more.
   *
   * @param sweeping also at endpoints whose last attempt failed
   */
  look(sweeping = false): Promise<void> {
    this.#swept ||= sweeping;
    if (this.#looking) this.#again = true;
    else if (!this.#closed) this.#looking = this.#look().finally(() => (this.#looking = undefined));
    return this.#looking ?? Promise.resolve();
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#looking;
    await (await this.#queue?.catch(() => undefined))?.close();
  }

  async #look(): Promise<void> {
    do {
      this.#again = false;
      const sweeping = this.#swept;
      this.#swept = false;
      await this.#dispatch(sweeping).catch(this.deps.onError);
    } while (this.#again && !this.#closed);
  }

  async #dispatch(sweeping: boolean): Promise<void> {
    const { db } = this.deps;
    const due = await dueDeliveries(db, { each, failing: sweeping ? failing : 0, most });
    if (due.length === 0) return;
    // before the rows are handed over: without a queue nobody would look at them for a while
    const queue = await this.#open();
    const own = await queueDeliveries(db, due, againMs);
    if (own.length > 0) await queue.add(own);
    if (due.length >= each) this.#again = true;
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
    const recovered = await deliver(this.deps.db, job, this.deps.send).catch((error: unknown) => {
      this.deps.onError(error);
      return false;
    });
    if (recovered) void this.look();
  }
}
