import type { Client } from '../client/client.ts';
import { decide, sameCall, type PendingApproval } from './approval.ts';

/** The calls that were decided on this page. What is read may list them for a while. */
export class Decisions {
  #made: PendingApproval[] = [];

  /** Those of the calls that are still to be decided. */
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
