import type { Client } from '../client/client.ts';
import { isClientError } from '../client/errors.ts';
import type { Json, RunSnapshot, RunRef } from '../client/operations.ts';
import type { RunHandle } from '../client/types.ts';

/** A tool call that waits for approval. */
export interface PendingApproval {
  threadId: string;
  runId: string;
  agent: string;
  /** The name of the call in its run, such as `1.0`. */
  call: string;
  /** The name of the tool. */
  name: string;
  /** Arguments from the model. */
  arguments: Json;
}

/** Decides on a call. Resolves once the server has the decision; one that was made elsewhere counts as made. */
export type Decide = (approval: PendingApproval, decision?: { reason?: string }) => Promise<void>;

export const approvalsOf = (run: RunSnapshot): PendingApproval[] =>
  run.approvals.map(({ call, name, arguments: args }) => ({
    threadId: run.threadId,
    runId: run.id,
    agent: run.agent,
    call,
    name,
    arguments: args,
  }));

const sameCall = (one: PendingApproval, other: PendingApproval): boolean =>
  one.runId === other.runId && one.call === other.call;

async function decide(
  client: Client,
  word: 'approve' | 'deny',
  { threadId, runId, call }: PendingApproval,
  decision: { reason?: string } = {},
): Promise<void> {
  try {
    await client.runs[word]({ threadId, id: runId }, call, decision);
  } catch (error) {
    if (!isClientError(error, 'already_decided')) throw error;
  }
}

/** The calls that were decided on this page. What is read may list them for a while. */
export class Decisions {
  #made: PendingApproval[] = [];

  /** The calls that are still to be decided. */
  open(waiting: PendingApproval[]): PendingApproval[] {
    return waiting.filter((one) => !this.#made.some((other) => sameCall(one, other)));
  }

  /** Forgets the decisions on calls that the server no longer lists. */
  keep(listed: PendingApproval[]): void {
    this.#made = this.#made.filter((one) => listed.some((other) => sameCall(one, other)));
  }

  /** Rejects, and the call is open again, if the server refuses the decision. */
  async make(
    client: Client,
    word: 'approve' | 'deny',
    approval: PendingApproval,
    decision?: { reason?: string },
  ): Promise<void> {
    this.#made.push(approval);
    try {
      await decide(client, word, approval, decision);
    } catch (error) {
      this.#made = this.#made.filter((one) => one !== approval);
      throw error;
    }
  }
}

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

  /** Reads the run, and the lane that the thread shows; `take` shows the run. */
  async read(): Promise<{ run: RunSnapshot | undefined; lane: string; take: () => void }> {
    const { client, threadId } = this;
    const accepted = this.#accepted;
    const { activeRunId, activeContextRef: lane } = await client.threads.get(threadId);
    const id = activeRunId ?? this.#lastId;
    const run = id === null ? null : await client.runs.get({ threadId, id });
    const own = !accepted || accepted.id === id ? run : await client.runs.get({ threadId, id: accepted.id });
    const take = () => {
      this.#run = run;
      // not another one, accepted in the meantime
      if (this.#accepted === accepted && (own === run || own?.finishedAt !== null)) this.#accepted = undefined;
    };
    return { run: run ?? undefined, lane, take };
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
