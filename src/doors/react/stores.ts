import type { Client } from '../client/client.ts';
import { isClientError, type LanefoldClientError } from '../client/errors.ts';
import { pause } from '../client/wait-for.ts';
import { Decisions, approvalsOf, type Decide, type PendingApproval } from './approval.ts';
import { Followed, coalesced, onceItExists } from './followed.ts';
import type { RunRef, Content, RunSnapshot } from '../client/operations.ts';
import { WeakValues } from '../../base/common/caches.ts';
import { ThreadStore } from './thread-store.ts';
import type { StreamItem } from '../client/sse.ts';
import { LiveAnswers, type LiveAnswer } from './live-answers.ts';

interface InboxState {
  approvals: PendingApproval[];
  error: LanefoldClientError | undefined;
}

/** The tool calls of all threads that wait for approval. They have no stream: it looks every few seconds. */
class InboxStore extends Followed<InboxState> {
  readonly #decisions = new Decisions();
  /** As last read. */
  #listed: PendingApproval[] = [];

  constructor(
    readonly client: Client,
    readonly pollMs: number,
  ) {
    super({ approvals: [], error: undefined });
  }

  protected async follow(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const { data } = await this.client.approvals.list({ limit: 200 }, { signal });
      this.#listed = data;
      this.#decisions.keep(data);
      this.#show();
      await pause(this.pollMs, signal);
    }
  }

  #show(): void {
    this.set({ approvals: this.#decisions.open(this.#listed), error: undefined });
  }

  readonly approve: Decide = (...given) => this.#decide('approve', ...given);
  readonly deny: Decide = (...given) => this.#decide('deny', ...given);

  async #decide(word: 'approve' | 'deny', ...given: Parameters<Decide>): Promise<void> {
    const made = this.#decisions.make(this.client, word, ...given);
    this.#show();
    try {
      await made;
    } catch (error) {
      this.#show();
      this.fail(error);
      throw error;
    }
  }
}

/** Components that show the same thread share one stream: browsers allow few connections to a server. */
const stores = new WeakMap<Client, WeakValues<string, object>>();

function shared<STORE extends object>(client: Client, key: string, create: () => STORE): STORE {
  let own = stores.get(client);
  if (!own) stores.set(client, (own = new WeakValues()));
  return (own.get(key) as STORE | undefined) ?? (own.set(key, create()) as STORE);
}

export const threadStore = (client: Client, threadId: string): ThreadStore =>
  shared(client, `thread ${threadId}`, () => new ThreadStore(client, threadId));

export const runStore = (client: Client, { threadId, id }: RunRef): RunStore =>
  shared(client, `run ${threadId} ${id}`, () => new RunStore(client, { threadId, id }));

export const inboxStore = (client: Client, pollMs: number): InboxStore =>
  shared(client, `inbox ${pollMs}`, () => new InboxStore(client, pollMs));

/** What is known of a run. */
export interface RunState {
  /** Undefined until it is read: the run may not exist yet. */
  run: RunSnapshot | undefined;
  /** The answer of the current model call, as it is written, or else of the last one. */
  text: string;
  thinking: string;
  approvals: PendingApproval[];
  /**
   * Why the last call, or the connection, failed; undefined once something has succeeded. `run_not_found` while the run
   * does not exist: it is followed as soon as it does.
   */
  error: LanefoldClientError | undefined;
}

/** A run, as long as a component shows it. */
export class RunStore extends Followed<RunState> {
  readonly #answers = new LiveAnswers();
  readonly #decisions = new Decisions();

  constructor(
    readonly client: Client,
    readonly ref: RunRef,
  ) {
    super({ run: undefined, text: '', thinking: '', approvals: [], error: undefined });
  }

  protected async follow(signal: AbortSignal): Promise<void> {
    const { client, ref } = this;
    try {
      await onceItExists(() => this.#followExisting(signal), {
        missing: (error) => this.#lose(error),
        arrival: () => client.runs.stream(ref, { wait: true, deltas: false, signal }),
        signal,
      });
    } catch (error) {
      if (!signal.aborted && isClientError(error, 'thread_erased')) this.#lose(error);
      throw error;
    }
  }

  async #followExisting(signal: AbortSignal): Promise<void> {
    this.#answers.clear();
    await this.#refresh();
    for await (const item of this.client.runs.stream(this.ref, { signal })) this.#take(item);
    await this.#refresh();
  }

  /** The run does not exist yet, or was erased. */
  #lose(error: LanefoldClientError): void {
    this.#answers.clear();
    this.#show({ ...nothing, run: undefined, error });
  }

  #take(item: StreamItem): void {
    if (this.#answers.take(item)) {
      const last = this.#answers.all().at(-1) ?? nothing;
      // only the last one is shown again once it is complete
      this.#answers.drop((answer) => answer.done && answer !== last);
      const { text, thinking } = last;
      this.set({ text, thinking });
    }
    if (item.type === 'event') void this.track(this.#refresh());
  }

  readonly #refresh = coalesced(async () => {
    const run = await this.client.runs.get(this.ref);
    this.#decisions.keep(approvalsOf(run));
    this.#show({ run, error: undefined });
  });

  #show(changes: Partial<RunState> = {}): void {
    const { run } = { ...this.state(), ...changes };
    this.set({ ...changes, approvals: run ? this.#decisions.open(approvalsOf(run)) : [] });
  }

  /** Sends input to the run. */
  readonly steer = (content: Content): Promise<void> => this.#act(() => this.client.runs.steer(this.ref, content));

  /** Cancels the run. Harmless if it has ended. */
  readonly cancel = (reason?: string): Promise<void> =>
    this.#act(() => this.client.runs.cancel(this.ref, reason === undefined ? {} : { reason }));

  readonly approve: Decide = (...given) => this.#decide('approve', ...given);
  readonly deny: Decide = (...given) => this.#decide('deny', ...given);

  #decide(word: 'approve' | 'deny', ...given: Parameters<Decide>): Promise<void> {
    const made = this.#decisions.make(this.client, word, ...given);
    this.#show();
    return this.#act(() => made);
  }

  async #act(work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#show();
      this.fail(error);
      throw error;
    }
    if (this.follows) void this.track(this.#refresh());
    else this.restart();
  }
}

const nothing: Pick<LiveAnswer, 'text' | 'thinking'> = { text: '', thinking: '' };
