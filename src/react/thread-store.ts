import type { Client } from '../client/client.ts';
import { isClientError, type LanefoldClientError } from '../client/errors.ts';
import { newId } from '../client/ids.ts';
import type { Content, RunSnapshot } from '../client/operations.ts';
import type { StreamItem } from '../client/stream-item.ts';
import type { EnqueueOptions, RunHandle } from '../client/types.ts';
import { approvalsOf, decide, sameCall, type Decide, type PendingApproval } from './approval.ts';
import { coalesced, Followed } from './followed.ts';
import { withItem, without, type LiveAnswers } from './live-text.ts';
import { merged, sentMessage, shown, type ThreadMessage } from './messages.ts';

/** What is known of a thread. */
export interface ThreadState {
  /** The conversation, with what was sent and what is being written. */
  messages: ThreadMessage[];
  /** `loading`: nothing is known yet. `busy`: a run is active. `suspended`: it waits, for instance for approval. */
  status: 'loading' | 'ready' | 'busy' | 'suspended';
  /** The active run, or else the last one that was seen. */
  run: RunSnapshot | undefined;
  approvals: PendingApproval[];
  /** Why the last call, or the connection, failed; undefined once something has succeeded. */
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
  #runId: string | null = null;
  #earlier: string | null = null;
  #exists = false;
  /** The question that is on its way to the server. */
  #asking: Promise<unknown> | undefined;
  /** A question that the server may have, although no answer said so. */
  #unsure: { question: string; requestId: string } | undefined;

  constructor(
    readonly client: Client,
    readonly threadId: string,
  ) {
    super({ messages: [], status: 'loading', run: undefined, approvals: [], error: undefined, hasEarlier: false });
  }

  protected async follow(signal: AbortSignal): Promise<void> {
    const { client, threadId } = this;
    this.#answers = new Map();
    try {
      const { activeRunId, eventRev } = await client.threads.get(threadId, { signal });
      this.#exists = true;
      this.#runId = activeRunId;
      const { data, nextAfter } = await client.threads.uiMessages(threadId, { limit: pageSize }, { signal });
      const known = this.#history.some(({ id }) => data.some((message) => message.id === id));
      this.#history = known ? merged(this.#history, data) : data;
      if (!known) this.#earlier = nextAfter;
      await this.#refresh();
      for await (const item of client.threads.stream(threadId, { after: eventRev - 1, signal })) this.#take(item);
    } catch (error) {
      // the first question creates it
      if (!isClientError(error, 'thread_not_found')) throw error;
      this.#exists = false;
      this.set({ status: 'ready', error: undefined });
    }
  }

  #take(item: StreamItem): void {
    const before = this.#answers;
    this.#answers = withItem(before, item);
    if (this.#answers !== before) this.#show();
    if (item.type !== 'event') return;
    this.#runId = item.event.runId;
    this.#refreshSoon();
  }

  /** Reads the newest messages and the run again: their answers replace what was shown of them so far. */
  readonly #refresh = coalesced(async () => {
    const { client, threadId } = this;
    const complete = [...this.#answers].flatMap(([id, { done }]) => (done ? [id] : []));
    const { activeRunId } = await client.threads.get(threadId);
    // the last event may be of a run that waits for its turn, or that has ended
    this.#runId = activeRunId ?? this.#runId;
    const runId = this.#runId;
    const run = runId === null ? undefined : await client.runs.get({ threadId, id: runId });
    // after the run, so that one that is over has its answer here
    const page = await client.threads.uiMessages(threadId, { limit: newestSize });
    // there is a newer run, which is about to be read
    if (this.#runId !== runId) return;
    this.#history = merged(this.#history, page.data);
    this.#sent = this.#sent.filter(({ id }) => !page.data.some((message) => message.id === id));
    if (page.data.some(({ id }) => id === this.#unsure?.requestId)) this.#unsure = undefined;
    const over = run?.finishedAt ? run.id : undefined;
    this.#answers = without(this.#answers, ({ runId }, id) => runId === over || complete.includes(id));
    const active = run?.finishedAt === null;
    const status = !active && !this.#asking ? 'ready' : run?.status === 'suspended' ? 'suspended' : 'busy';
    this.#show({ status, run, approvals: active ? approvalsOf(run) : [], error: undefined });
  });

  /** What fails here is tried again with the next event. */
  #refreshSoon(): void {
    this.#refresh().catch((error: unknown) => this.fail(error));
  }

  #show(changes: Partial<ThreadState> = {}): void {
    const messages = shown(this.#history, this.#sent, this.#answers);
    this.set({ messages, hasEarlier: this.#earlier !== null, ...changes });
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
    const { status } = this.state();
    this.#show({ status: status === 'suspended' ? status : 'busy', error: undefined });
    try {
      const request = { createThread: true, ...rest, agent, input, threadId, requestId };
      const run = await (this.#asking = this.client.runs.enqueue(request));
      this.#asking = undefined;
      if (run.status !== 'waiting') this.#runId = run.id;
      if (this.#exists && this.follows) this.#refreshSoon();
      else this.restart();
      return run;
    } catch (error) {
      this.#asking = undefined;
      if (isClientError(error) && (error.status === 0 || error.status >= 500)) this.#unsure = { question, requestId };
      this.#sent = this.#sent.filter(({ id }) => id !== requestId);
      this.#show({ status });
      this.fail(error);
      throw error;
    }
  };

  /** Sends input to the active run. */
  readonly steer = (content: Content): Promise<void> =>
    this.#act(async (run) => void (await this.client.runs.steer(run, content)));

  /** Cancels the active run. Without one, nothing happens. */
  readonly cancel = (reason?: string): Promise<void> =>
    this.#act(async (run) => void (await this.client.runs.cancel(run, reason === undefined ? {} : { reason })));

  readonly approve: Decide = (approval, decision) => this.#decide('approve', approval, decision);
  readonly deny: Decide = (approval, decision) => this.#decide('deny', approval, decision);

  /** Adds the messages before the first one. */
  readonly loadEarlier = async (): Promise<void> => {
    if (this.#earlier === null) return;
    const query = { limit: pageSize, after: this.#earlier };
    const { data, nextAfter } = await this.client.threads.uiMessages(this.threadId, query);
    this.#history = [...data, ...this.#history.filter(({ id }) => !data.some((message) => message.id === id))];
    this.#earlier = nextAfter;
    this.#show();
  };

  async #decide(word: 'approve' | 'deny', approval: PendingApproval, decision?: { reason?: string }): Promise<void> {
    const { approvals } = this.state();
    this.set({ approvals: approvals.filter((other) => !sameCall(other, approval)), error: undefined });
    try {
      await decide(this.client, word, approval, decision);
      this.#refreshSoon();
    } catch (error) {
      this.set({ approvals });
      this.fail(error);
      throw error;
    }
  }

  /** A run may be shown, by its question or its first words, before it has been read. */
  async #active(): Promise<RunSnapshot | undefined> {
    await this.#asking?.catch(() => {});
    const known = activeOf(this.state());
    if (known || ['ready', 'loading'].includes(this.state().status)) return known;
    await this.#refresh();
    return activeOf(this.state());
  }

  async #act(on: (run: RunSnapshot) => Promise<void>): Promise<void> {
    try {
      const run = await this.#active();
      if (run) await on(run);
    } catch (error) {
      this.fail(error);
      throw error;
    }
  }
}

const activeOf = ({ run }: ThreadState): RunSnapshot | undefined => (run?.finishedAt === null ? run : undefined);
