import type { Client } from '../client/client.ts';
import { isClientError } from '../client/errors.ts';
import type { Json, RunSnapshot } from '../client/operations.ts';

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
