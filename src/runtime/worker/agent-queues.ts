import type { Database } from '../../postgres/pool.ts';
import { findPassedOnQueues, type Capabilities } from '../../store/run/find-passed-on-queues.ts';

/**
 * The queues of agents: a worker that takes a job and lacks its agent, or the strategy of its run, puts it there. A worker
 * opens the queue of an agent it knows, `agent` or `agent+strategy`, once there is a job in it, so where every worker knows
 * all of them there is none.
 */
export class AgentQueues {
  readonly #opened = new Map<string, Promise<unknown>>();
  #closed = false;

  constructor(
    private readonly db: Database,
    private readonly prefix: string,
    private readonly known: Capabilities,
    /** Starts to process the jobs in such a queue. */
    private readonly start: (queue: string) => Promise<unknown>,
    private readonly onError: (error: unknown) => void,
  ) {}

  /** A run was passed on: the payload is `prefix queue`. Without one, notifications may have been missed. */
  async notified(payload: string | undefined): Promise<void> {
    if (payload === undefined) return this.openAll().catch(this.onError);
    const queue = payload.startsWith(`${this.prefix} `) ? payload.slice(this.prefix.length + 1) : undefined;
    if (queue !== undefined && this.#isForThisWorker(queue)) await this.#open(queue);
  }

  /** Opens every queue with runs that were passed on and that this worker can execute. */
  async openAll(): Promise<void> {
    await Promise.all((await findPassedOnQueues(this.db, this.known)).map((queue) => this.#open(queue)));
  }

  /** Opens no more queues, and waits for those that are being opened. */
  close(): Promise<unknown> {
    this.#closed = true;
    return Promise.allSettled(this.#opened.values());
  }

  #isForThisWorker(queue: string): boolean {
    const [agent, strategy] = queue.split('+');
    const { agents, strategies } = this.known;
    return agents.includes(agent!) && (strategy === undefined || strategies.includes(strategy));
  }

  async #open(queue: string): Promise<unknown> {
    if (this.#closed) return;
    const opened =
      this.#opened.get(queue) ??
      this.start(queue).catch((error: unknown) => {
        this.#opened.delete(queue);
        this.onError(error);
      });
    this.#opened.set(queue, opened);
    return opened;
  }
}
