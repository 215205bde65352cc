import type { Client } from '../client/client.ts';
import type { LanefoldClientError } from '../client/errors.ts';
import { pause } from '../client/pause.ts';
import { type Decide, type PendingApproval, Decisions } from './approval.ts';
import { Followed } from './followed.ts';
import type { RunRef } from '../client/operations.ts';
import { WeakValues } from '../../base/common/caches.ts';
import { RunStore } from './run-store.ts';
import { ThreadStore } from './thread-store.ts';

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
