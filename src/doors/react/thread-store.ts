import type { Client } from '../client/client.ts';
import { isClientError, type LanefoldClientError } from '../client/errors.ts';
import { newId } from '../client/connection.ts';
import type { Content, RunRef, RunSnapshot } from '../client/operations.ts';
import type { StreamItem } from '../client/sse.ts';
import type { EnqueueOptions, RunHandle } from '../client/types.ts';
import {
  approvalsOf,
  Decisions,
  CurrentRun,
  type Decide,
  type PendingApproval,
  type ThreadStatus,
} from './approval.ts';
import { coalesced, Followed, mayPass, onceItExists } from './followed.ts';
import { withItem, without, type LiveAnswers, merged, sentMessage, shown, type ThreadMessage } from './messages.ts';

/** What is known of a thread. */
export interface ThreadState {
  /** The conversation, with what was sent and what is being written. */
  messages: ThreadMessage[];
  /**
   * `loading`: nothing is known yet. `busy`: from a question until its run has ended. `suspended`: the run waits, for
   * instance for approval.
   */
  status: ThreadStatus;
  /** The active run, or else the last one that was seen. */
  run: RunSnapshot | undefined;
  /**
   * `false` before the thread is created, by the first question or by others, and once it was erased. Undefined until that
   * is known.
   */
  exists: boolean | undefined;
  approvals: PendingApproval[];
  /** Why the last call failed, until the next one; or else why the connection failed, until it works. */
  error: LanefoldClientError | undefined;
  hasEarlier: boolean;
}

export type SendOptions = Omit<EnqueueOptions, 'agent' | 'input' | 'threadId'>;

const pageSize = 20;
/** Questions that are read again when something happens: more may wait for their turn. */
const newestSize = 5;

/** A thread, as long as a component shows it. */
export class ThreadStore extends Followed<ThreadState> {
  #history: ThreadMessage[] = [];
  #sent: ThreadMessage[] = [];
  #answers: LiveAnswers = new Map();
  readonly #current: CurrentRun;
  #earlier: string | null = null;
  #exists: boolean | undefined;
  /** Why the last call of the user failed. */
  #refusal: LanefoldClientError | undefined;
  /** A question that the server may have, although no answer said so. */
  #unsure: { question: string; requestId: string; error: LanefoldClientError } | undefined;
  readonly #decisions = new Decisions();

  constructor(
    readonly client: Client,
    readonly threadId: string,
  ) {
    super({
      messages: [],
      status: 'loading',
      run: undefined,
      exists: undefined,
      approvals: [],
      error: undefined,
      hasEarlier: false,
    });
    this.#current = new CurrentRun(client, threadId);
  }

  protected async follow(signal: AbortSignal): Promise<void> {
    const { client, threadId } = this;
    try {
      await onceItExists(() => this.#followExisting(signal), {
        missing: () => this.#lose(false),
        arrival: () => client.threads.stream(threadId, { wait: true, deltas: false, signal }),
        signal,
      });
    } catch (error) {
      if (!signal.aborted && isClientError(error) && !mayPass(error))
        this.#lose(error.code === 'thread_erased' ? false : undefined);
      throw error;
    }
  }

  async #followExisting(signal: AbortSignal): Promise<void> {
    const { client, threadId } = this;
    this.#answers = new Map();
    const { eventRev } = await client.threads.get(threadId, { signal });
    this.#exists = true;
    const { data, nextAfter } = await client.threads.uiMessages(threadId, { limit: pageSize }, { signal });
    const known = this.#history.some(({ id }) => data.some((message) => message.id === id));
    this.#history = known ? merged(this.#history, data) : data;
    if (!known) this.#earlier = nextAfter;
    await this.#refresh();
    for await (const item of client.threads.stream(threadId, { after: eventRev - 1, signal })) this.#take(item);
    // the stream ends with its thread: this rejects with the reason
    await client.threads.get(threadId, { signal });
  }

  /** Nothing more will be known of its run. @param exists undefined if the thread may not be read */
  #lose(exists: false | undefined): void {
    this.#exists = exists;
    this.#current.lose();
    if (exists === false) {
      this.#history = [];
      this.#earlier = null;
      this.#answers = new Map();
    }
    this.#show({ error: this.#refusal });
  }

  #take(item: StreamItem): void {
    const before = this.#answers;
    this.#answers = withItem(before, item);
    if (this.#answers !== before) this.#show();
    if (item.type !== 'event') return;
    this.#current.saw(item.event.runId);
    this.#refreshSoon();
  }

  /** Reads the newest messages and the run again: their answers replace what was shown of them so far. */
  readonly #refresh = coalesced(async () => {
    const { client, threadId } = this;
    const complete = [...this.#answers].flatMap(([id, { done }]) => (done ? [id] : []));
    const { run, take } = await this.#current.read();
    // after the run, so that one that is over has its answer here
    const page = await client.threads.uiMessages(threadId, { limit: newestSize });
    this.#history = merged(this.#history, page.data);
    this.#sent = this.#sent.filter(({ id }) => !page.data.some((message) => message.id === id));
    take();
    this.#arrived(page.data);
    if (run) this.#decisions.keep(approvalsOf(run));
    const over = run?.finishedAt ? run.id : undefined;
    this.#answers = without(this.#answers, ({ runId }, id) => runId === over || complete.includes(id));
    this.#show({ error: this.#refusal });
  });

  /** The question of a lost answer has arrived, if it is among the messages. */
  #arrived(messages: readonly { id: string }[]): void {
    if (!messages.some(({ id }) => id === this.#unsure?.requestId)) return;
    if (this.#refusal === this.#unsure?.error) this.#refusal = undefined;
    this.#unsure = undefined;
  }

  #refreshSoon(): void {
    void this.track(this.#refresh());
  }

  #show(changes: Partial<ThreadState> = {}): void {
    const messages = shown(this.#history, this.#sent, this.#answers);
    const { run, status } = this.#current;
    const approvals = run?.finishedAt === null ? this.#decisions.open(approvalsOf(run)) : [];
    this.set({
      messages,
      run,
      status,
      approvals,
      exists: this.#exists,
      hasEarlier: this.#earlier !== null,
      ...changes,
    });
  }

  /** What the user asks for. Even if it fails, the thread may have changed. */
  async #call<T>(work: () => Promise<T>): Promise<T> {
    this.#refusal = undefined;
    this.#show({ error: undefined });
    try {
      return await work();
    } catch (error) {
      if (isClientError(error)) this.#refusal = error;
      this.#show();
      this.fail(error);
      throw error;
    } finally {
      if (this.#exists && this.follows) this.#refreshSoon();
      else this.restart();
    }
  }

  /** Asks. The message is shown at once, and taken back if the server refuses it. */
  readonly send = async (agent: string, input: Content, options: SendOptions = {}): Promise<RunHandle> => {
    const { threadId } = this;
    const { requestId: given, ...rest } = options;
    const question = JSON.stringify([agent, input, rest]);
    // sent again after an outage, it is the same request
    const again = this.#unsure?.question === question ? this.#unsure.requestId : undefined;
    const requestId = given ?? again ?? newId('msg');
    this.#unsure = undefined;
    this.#sent = [...this.#sent.filter(({ id }) => id !== requestId), sentMessage(requestId, input)];
    const request = { createThread: true, ...rest, agent, input, threadId, requestId };
    const answer = this.#current.ask(this.client.runs.enqueue(request), rest.busy === 'wait');
    return this.#call(async () => {
      try {
        return await answer;
      } catch (error) {
        if (isClientError(error) && (error.status === 0 || error.status >= 500))
          this.#unsure = { question, requestId, error };
        this.#sent = this.#sent.filter(({ id }) => id !== requestId);
        throw error;
      }
    });
  };

  /** Sends input to the active run. The server refuses it for a run that has ended. */
  readonly steer = (content: Content): Promise<void> =>
    this.#call(async () => {
      const run = (await this.#current.target()) ?? this.#current.run;
      if (run) await this.client.runs.steer(run, content);
    });

  /** Cancels the active run. Without one, nothing happens. */
  readonly cancel = (reason?: string): Promise<void> =>
    this.#call(async () => {
      const cancel = (run: RunRef) => this.client.runs.cancel(run, reason === undefined ? {} : { reason });
      const run = await this.#current.target();
      if (!run || (await cancel(run)).accepted) return;
      // it had ended, and the next one may be what the page shows
      await this.#refresh();
      const next = await this.#current.target();
      if (next && next.id !== run.id) await cancel(next);
    });

  readonly approve: Decide = (...given) => this.#decide('approve', ...given);
  readonly deny: Decide = (...given) => this.#decide('deny', ...given);

  /** Adds the messages before the first one. */
  readonly loadEarlier = async (): Promise<void> => {
    if (this.#earlier === null) return;
    const query = { limit: pageSize, after: this.#earlier };
    const { data, nextAfter } = await this.client.threads.uiMessages(this.threadId, query);
    this.#history = [...data, ...this.#history.filter(({ id }) => !data.some((message) => message.id === id))];
    this.#earlier = nextAfter;
    this.#show();
  };

  #decide(word: 'approve' | 'deny', ...given: Parameters<Decide>): Promise<void> {
    const made = this.#decisions.make(this.client, word, ...given);
    return this.#call(() => made);
  }
}
