import type { Database } from '../../postgres/pool.ts';
import { findPassedOnAgents } from '../../store/run/find-passed-on-agents.ts';

/**
 * The queues of agents: a worker that takes a job and does not know its agent puts it there. A worker opens the queue of an
 * agent it knows once there is a job in it, so where every worker knows all agents there is none.
 */
export class AgentQueues {
  readonly #opened = new Map<string, Promise<unknown>>();
  #closed = false;

  constructor(
    private readonly db: Database,
    private readonly prefix: string,
    private readonly known: readonly string[],
    /** Starts to process the jobs in the queue of an agent. */
    private readonly start: (agent: string) => Promise<unknown>,
    private readonly onError: (error: unknown) => void,
  ) {}

  /** A run was passed on: the payload is `prefix agent`. Without one, notifications may have been missed. */
  async notified(payload: string | undefined): Promise<void> {
    if (payload === undefined) return this.openAll().catch(this.onError);
    const agent = payload.startsWith(`${this.prefix} `) ? payload.slice(this.prefix.length + 1) : undefined;
    if (agent !== undefined && this.known.includes(agent)) await this.#open(agent);
  }

  /** Opens the queue of every agent known here of which runs were passed on. */
  async openAll(): Promise<void> {
    const unopened = this.known.filter((agent) => !this.#opened.has(agent));
    if (unopened.length === 0) return;
    await Promise.all((await findPassedOnAgents(this.db, unopened)).map((agent) => this.#open(agent)));
  }

  /** Opens no more queues, and waits for those that are being opened. */
  close(): Promise<unknown> {
    this.#closed = true;
    return Promise.allSettled(this.#opened.values());
  }

  async #open(agent: string): Promise<unknown> {
    if (this.#closed) return;
    const opened =
      this.#opened.get(agent) ??
      this.start(agent).catch((error: unknown) => {
        this.#opened.delete(agent);
        this.onError(error);
      });
    this.#opened.set(agent, opened);
    return opened;
  }
}
