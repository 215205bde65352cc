import type { Database } from '../../database/postgres/pool.ts';
import { findAgentQueues } from '../../database/store/run/find-agent-queues.ts';
import { type Capabilities, knows } from '../../database/store/worker/capabilities.ts';

/**
 * The queues of agents. A worker that takes a job but lacks its agent, or the version, strategy or tools of its run, moves the job to
 * the queue named `agent`, `agent@version`, `agent+strategy` or `agent~hash of the tools`. Workers that have all open that queue once
 * it has a job; if every worker has everything, no such queue exists.
 */
export class AgentQueues {
  readonly #opened = new Map<string, Promise<unknown>>();
  #closed = false;

  constructor(
    private readonly db: Database,
    private readonly prefix: string,
    private readonly known: Capabilities,
    /** Starts processing the jobs of a queue. */
    private readonly start: (queue: string) => Promise<unknown>,
    private readonly onError: (error: unknown) => void,
  ) {}

  /**
   * Handles the notification that a run was moved, with the payload `prefix queue`. Without a payload,
   * notifications may have been missed.
   */
  async notified(payload: string | undefined): Promise<void> {
    if (payload === undefined) return this.openAll().catch(this.onError);
    const queue = payload.startsWith(`${this.prefix} `) ? payload.slice(this.prefix.length + 1) : undefined;
    if (queue === undefined || !this.#isForThisWorker(queue)) return;
    // the rows of the runs say which tools they are
    if (queue.includes('~')) return this.openAll().catch(this.onError);
    await this.#open(queue);
  }

  /** Opens every queue that holds moved runs which this worker can execute. `since`: see `findOldestDue`. */
  async openAll(since?: string): Promise<void> {
    await Promise.all((await findAgentQueues(this.db, this.known, since)).map((queue) => this.#open(queue)));
  }

  /** Opens no more queues, and waits for those that are being opened. */
  close(): Promise<unknown> {
    this.#closed = true;
    return Promise.allSettled(this.#opened.values());
  }

  #isForThisWorker(queue: string): boolean {
    const [named, strategy] = queue.replace(/~.*/, '').split('+');
    const [agent, version] = named!.split('@');
    return knows(this.known, { agent: agent!, version, strategy });
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
