import type { Client } from '../client/client.ts';
import type { LanefoldClientError } from '../client/errors.ts';
import { pause } from '../client/pause.ts';
import type { Decide, PendingApproval } from './approval.ts';
import { Decisions } from './decisions.ts';
import { Followed } from './followed.ts';

export interface InboxState {
  approvals: PendingApproval[];
  error: LanefoldClientError | undefined;
}

/** The tool calls of all threads that wait for approval. They have no stream: it looks every few seconds. */
export class InboxStore extends Followed<InboxState> {
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
