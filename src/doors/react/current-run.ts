import type { Client } from '../client/client.ts';
import type { RunRef, RunSnapshot } from '../client/operations.ts';
import type { RunHandle } from '../client/types.ts';

export type ThreadStatus = 'loading' | 'ready' | 'busy' | 'suspended';

/** The run that a page of a thread is about: the active one, or else the last one. */
export class CurrentRun {
  /** Questions on their way to the server. */
  readonly #asking = new Set<Promise<unknown>>();
  /** The run of a question that was accepted, until it is read as the active one or has ended. */
  #accepted: { id: string; queues: boolean } | undefined;
  /** The run of the last question or event. */
  #lastId: string | null = null;
  /** As last read: null if there is no run, undefined if nothing was read yet. */
  #run: RunSnapshot | null | undefined;

  constructor(
    readonly client: Client,
    readonly threadId: string,
  ) {}

  get run(): RunSnapshot | undefined {
    return this.#run ?? undefined;
  }

  get #active(): RunSnapshot | undefined {
    return this.#run?.finishedAt === null ? this.#run : undefined;
  }

  get status(): ThreadStatus {
    if (this.#active) return this.#active.status === 'suspended' ? 'suspended' : 'busy';
    if (this.#asking.size > 0 || this.#accepted) return 'busy';
    return this.#run === undefined ? 'loading' : 'ready';
  }

  /** An event of the run has arrived. The run may have ended, or still wait for its turn. */
  saw(id: string): void {
    this.#lastId = id;
  }

  /** @param queues whether the question waits for an active run */
  async ask(answer: Promise<RunHandle>, queues: boolean): Promise<RunHandle> {
    this.#asking.add(answer);
    try {
      const run = await answer;
      this.#lastId = run.id;
      this.#accepted = { id: run.id, queues };
      return run;
    } finally {
      this.#asking.delete(answer);
    }
  }

  /** Reads the run; `take` shows it. */
  async read(): Promise<{ run: RunSnapshot | undefined; take: () => void }> {
    const { client, threadId } = this;
    const accepted = this.#accepted;
    const { activeRunId } = await client.threads.get(threadId);
    const id = activeRunId ?? this.#lastId;
    const run = id === null ? null : await client.runs.get({ threadId, id });
    const own = !accepted || accepted.id === id ? run : await client.runs.get({ threadId, id: accepted.id });
    const take = () => {
      this.#run = run;
      // not another one, accepted in the meantime
      if (this.#accepted === accepted && (own === run || own?.finishedAt !== null)) this.#accepted = undefined;
    };
    return { run: run ?? undefined, take };
  }

  /** There is no such thread, or it may not be read. */
  lose(): void {
    this.#run = null;
    this.#lastId = null;
    this.#accepted = undefined;
  }

  /**
   * The run to cancel or steer, once the questions on their way are answered. A page shows a run, by its question and its first
   * words, before it has read it.
   */
  async target(): Promise<RunRef | undefined> {
    await Promise.allSettled(this.#asking);
    const { threadId } = this;
    if (!this.#accepted || (this.#accepted.queues && this.#active)) return this.#active;
    return { threadId, id: this.#accepted.id };
  }
}
