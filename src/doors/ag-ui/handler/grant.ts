import type { EnqueueOptions } from '../../../runs/operations/runs/enqueue.ts';
import type { AgUiInput } from '../../../runs/formats/ag-ui/input.ts';

/** What the client of a signed-in user asks for. */
export interface AgUiClientRequest {
  /** `run`: ask, answer interrupts, or follow the active run. `cancel`: cancel the active run. */
  action: 'run' | 'cancel';
  /** The client's name of the conversation: not proof that it may use it. */
  threadId: string;
  /** The body of `run`; undefined for `cancel`. */
  input: AgUiInput | undefined;
}

/** Permission for one thread: to ask, to answer every interrupt, and to cancel. */
export interface AgUiGrant {
  /** The thread of the conversation; created with the first message. */
  threadId: string;
  /** The thread must belong to this tenant, and is created for it. Default: no check. */
  tenantId?: string;
  /** Default: the `agent` of the handler. */
  agent?: string;
  /** Who answers interrupts, for the log. */
  by?: string;
  /** Further options of the runs, such as `busy`, `model` or `toolContext`. */
  run?: Omit<EnqueueOptions, 'agent' | 'input' | 'threadId' | 'createThread' | 'requestId' | 'extraRefs'>;
}

/** A grant, or your own response; anything else is rejected with 403. */
export type AgUiVerdict = AgUiGrant | Response | null | undefined | false;

/**
 * What `authorize` returns: a decision on the conversation that a signed-in user asks for, which is read only then, or a
 * verdict on the request alone.
 */
export type AgUiAuthorization = AgUiVerdict | ((client: AgUiClientRequest) => AgUiVerdict | Promise<AgUiVerdict>);

export const notYours = 'This conversation is not yours, or you are not signed in.';
