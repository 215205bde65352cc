import type { JsonObject } from '../context/message.ts';
import type { StateEffect } from '../context/state.ts';
import type { RefusedEffect } from './effects.ts';
import type { Rendered } from './error-message.ts';
import type { HandoffRequest, NextAgent } from './handoff.ts';
import type { WaitRequest } from './wait.ts';

/** The outcome of a call. `durationMs` is the duration of the last attempt, in whole milliseconds. */
export interface ToolOutcome extends Omit<Rendered, 'status'> {
  /** `unknown`: the call may have taken effect, and must not be made again. */
  status: Rendered['status'] | 'unknown' | 'denied' | 'abandoned' | 'waiting';
  attempts: number;
  durationMs: number;
  /** What a `waiting` call waits for; its result comes later. A `spawn` has a result too. */
  wait?: WaitRequest;
  /** The agent that is to go on with the run; once the handoff is accepted, `next` says all about it. */
  handoff?: HandoffRequest;
  next?: NextAgent;
  /** The result came from the end of a wait. */
  waited?: true;
  /** Effects as the tool returned them, before the policy is applied. */
  offered?: readonly unknown[];
  effects?: StateEffect[];
  refused?: RefusedEffect[];
  /** Added to the refs of the tool message. */
  refs?: JsonObject;
}
