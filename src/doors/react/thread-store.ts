import type { Client } from '../client/client.ts';
import { isClientError, type LanefoldClientError } from '../client/errors.ts';
import { newId } from '../client/connection.ts';
import type { Content, NewBranch, RunRef, RunSnapshot } from '../client/operations.ts';
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
import { coalesced, Followed, mayPass, onceItExists, page } from './followed.ts';
import { LiveAnswers } from './live-answers.ts';
import { before, merged, sentMessage, shown, type ThreadMessage } from './messages.ts';

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

/** `requestId`: a second change with this id is the same one. */
export type BranchOptions = Omit<NewBranch, 'agent' | 'input' | 'afterSeq' | 'messageId' | 'opId' | 'show'> & {
  requestId?: string;
};

const pageSize = 20;
/** Questions that are read again when something happens: more may wait for their turn. */
const newestSize = 5;

/** A thread, as long as a component shows it. */
export class ThreadStore extends Followed<ThreadState> {
  #history: ThreadMessage[] = [];
  /** The lane that has these messages. */
  #lane: string | undefined;
  /** What a branch keeps of them, until the thread no longer shows the lane that the branch leaves. */
  #kept: { messages: readonly ThreadMessage[]; left: string | undefined } | undefined;
  #sent: ThreadMessage[] = [];
  readonly #answers = new LiveAnswers();
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
    this.#answers.clear();
    const { eventRev } = await client.threads.get(threadId, { signal });
    this.#exists = true;
    this.#lane = undefined;
    await this.#refresh();
    // nothing tells that another tab shows another branch
    page.addEventListener?.('focus', () => this.#refreshSoon(), { signal });
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
      this.#lane = undefined;
      this.#earlier = null;
      this.#answers.clear();
    }
    this.#show({ error: this.#refusal });
  }

  #take(item: StreamItem): void {
    if (this.#answers.take(item)) this.#show();
    if (item.type !== 'event') return;
    this.#current.saw(item.event.runId);
    this.#refreshSoon();
  }

  /** Reads the newest messages and the run again: their answers replace what was shown of them so far. */
  readonly #refresh = coalesced(async () => {
    const { client, threadId } = this;
    const complete = this.#answers.all().flatMap(({ callId, done }) => (done ? [callId] : []));
    const { run, lane, take } = await this.#current.read();
    const known = lane === this.#lane;
    // after the run, so that one that is over has its answer here
    const query = { contextRef: lane, limit: known ? newestSize : pageSize };
    const { data, nextAfter } = await client.threads.uiMessages(threadId, query);
    const joins = this.#history.some(({ id }) => data.some((message) => message.id === id));
    if (!joins) this.#earlier = nextAfter;
    this.#history = joins ? merged(this.#history, data) : data;
    if (lane !== this.#kept?.left) this.#kept = undefined;
    this.#lane = lane;
    this.#sent = this.#sent.filter(({ id }) => !data.some((message) => message.id === id));
    take();
    this.#arrived(data);
    if (run) this.#decisions.keep(approvalsOf(run));
    if (run?.finishedAt) this.#answers.endOf(run.id);
    this.#answers.drop(({ callId }) => complete.includes(callId));
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
    const messages = shown(this.#kept?.messages ?? this.#history, this.#sent, this.#answers.all());
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
  readonly send = (agent: string, input: Content, options: SendOptions = {}): Promise<RunHandle> => {
    const { requestId, ...rest } = options;
    const { threadId } = this;
    return this.#ask({ agent, input, ...rest }, requestId, (id) =>
      this.client.runs.enqueue({ createThread: true, ...rest, agent, input, threadId, requestId: id }),
    );
  };

  /** Replaces a question on a new branch. What follows the question leaves the page at once, and comes back if the server refuses. */
  readonly edit = (agent: string, messageId: string, input: Content, options: BranchOptions = {}): Promise<RunHandle> =>
    this.#branch(agent, { messageId, input }, options);

  /** Answers a question again on a new branch. @param messageId the question, or its answer; default: the last one */
  readonly regenerate = (agent: string, messageId?: string, options: BranchOptions = {}): Promise<RunHandle> => {
    const last = messageId ?? this.state().messages.findLast(({ role }) => role === 'user')?.id;
    return this.#branch(agent, { messageId: last! }, options);
  };

  async #branch(
    agent: string,
    change: { messageId: string; input?: Content },
    { requestId, ...rest }: BranchOptions,
  ): Promise<RunHandle> {
    // one that waits does not change what is shown
    const left = this.#lane;
    if (rest.busy !== 'wait')
      this.#kept = { messages: before(this.#history, change.messageId, change.input === undefined), left };
    try {
      return await this.#ask({ agent, ...change, ...rest }, requestId, async (opId) => {
        const made = await this.client.threads.branch(this.threadId, { ...rest, agent, ...change, opId });
        if (made.contextRef === left || (made.duplicate && !made.shown)) this.#kept = undefined;
        return made.run!;
      });
    } catch (error) {
      this.#kept = undefined;
      this.#show();
      throw error;
    }
  }

  /** Shows another branch. While a run is active, the server does so when the run ends. */
  readonly select = (lane: string): Promise<void> =>
    this.#call(async () => {
      await this.client.contexts.show(this.threadId, lane);
    });

  async #ask(
    asked: { agent: string; input?: Content; busy?: SendOptions['busy'] },
    given: string | undefined,
    accept: (requestId: string) => Promise<RunHandle>,
  ): Promise<RunHandle> {
    const question = JSON.stringify(asked);
    // sent again after an outage, it is the same request
    const again = this.#unsure?.question === question ? this.#unsure.requestId : undefined;
    const requestId = given ?? again ?? newId('msg');
    this.#unsure = undefined;
    const others = () => this.#sent.filter(({ id }) => id !== requestId);
    if (asked.input !== undefined) this.#sent = [...others(), sentMessage(requestId, asked.input)];
    const answer = this.#current.ask(accept(requestId), asked.busy === 'wait');
    return this.#call(async () => {
      try {
        return await answer;
      } catch (error) {
        if (isClientError(error) && (error.status === 0 || error.status >= 500))
          this.#unsure = { question, requestId, error };
        this.#sent = others();
        throw error;
      }
    });
  }

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
