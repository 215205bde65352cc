import type { Client } from '../client/client.ts';
import type { LanefoldClientError } from '../client/errors.ts';
import { pause } from '../client/pause.ts';
import { decide, sameCall, type Decide, type PendingApproval } from './approval.ts';
import { Followed } from './followed.ts';

export interface InboxState {
  approvals: PendingApproval[];
  error: LanefoldClientError | undefined;
}

/** The tool calls of all threads that wait for approval. They have no stream: it looks every few seconds. */
export class InboxStore extends Followed<InboxState> {
  #decided: PendingApproval[] = [];

  constructor(
    readonly client: Client,
    readonly pollMs: number,
  ) {
    super({ approvals: [], error: undefined });
  }

  protected async follow(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const { data } = await this.client.approvals.list({ limit: 200 }, { signal });
      this.#decided = this.#decided.filter((one) => data.some((other) => sameCall(one, other)));
      const approvals = data.filter((one) => !this.#decided.some((other) => sameCall(one, other)));
      this.set({ approvals, error: undefined });
      await pause(this.pollMs, signal);
    }
  }

  readonly approve: Decide = (approval, decision) => this.#decide('approve', approval, decision);
  readonly deny: Decide = (approval, decision) => this.#decide('deny', approval, decision);

  async #decide(word: 'approve' | 'deny', approval: PendingApproval, decision?: { reason?: string }): Promise<void> {
    const { approvals } = this.state();
    // until the list has no more of it
    this.#decided.push(approval);
    this.set({ approvals: approvals.filter((other) => !sameCall(other, approval)), error: undefined });
    try {
      await decide(this.client, word, approval, decision);
    } catch (error) {
      this.#decided = this.#decided.filter((other) => other !== approval);
      this.set({ approvals });
      this.fail(error);
      throw error;
    }
  }
}
