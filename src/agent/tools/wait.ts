import { assertId } from '../../base/checks/ids.ts';
import { refuseUnknownKeys, type KeysOf } from '../../base/checks/unknown-keys.ts';
import { assertWhole } from '../../base/checks/values.ts';
import { LanefoldError } from '../../base/errors.ts';
import type { JsonObject } from '../context/message.ts';

/** What a call waits for, or the run that it starts. */
export type WaitRequest =
  | { kind: 'event'; event: string; timeoutMs?: number }
  | { kind: 'time'; timeoutMs: number }
  | { kind: 'time'; until: Date }
  | { kind: 'run'; start: ChildRequest; timeoutMs?: number }
  | { kind: 'run'; run: RunOfAgent; timeoutMs?: number }
  | { kind: 'spawn'; start: ChildRequest };

/**
 * Returned by a tool instead of a result: the run is suspended until the wait ends, without a worker, and the end gives
 * the call its result. Create it with `waitFor`, `sleep`, `sleepUntil`, `callAgent` or `awaitAgent`.
 */
export class Wait {
  /** @internal */
  constructor(readonly request: WaitRequest) {}
}

export interface WaitTimeout {
  /** After this, the call fails with the error type `timeout`. Default: it waits as long as its run lives. */
  timeoutMs?: number;
}

export const waitKeys: KeysOf<WaitTimeout> = { timeoutMs: true };

/** A year: the maximum wait of a call with a time limit, in ms. */
const maxWaitMs = 31_536_000_000;

/** @throws LanefoldError `invalid_input` */
export function assertTimeout(timeoutMs: unknown): void {
  if (timeoutMs === undefined) return;
  assertWhole(timeoutMs, 'timeoutMs', { minimum: 1, maximum: maxWaitMs, hint: 'Omit it to wait without a limit.' });
}

/**
 * Waits for an event, which `lanefold.events.send` or a signed URL sends: its payload becomes the result of the call. An
 * event that comes before the wait is lost, unless it was sent with `keepMs`.
 *
 * @param event 1 to 128 characters of `[A-Za-z0-9._:@-]`, such as `order:42:paid`; unique within the tenant if only one
 *   call is to get it
 * @throws LanefoldError `invalid_id`, `invalid_input`
 *
 * @example
 * ```ts
 * import { defineTool, waitFor } from 'lanefold';
 * import { z } from 'zod';
 *
 * defineTool({
 *   name: 'await_payment',
 *   description: 'Waits until an order is paid',
 *   input: z.object({ order: z.string() }),
 *   execute: ({ order }) => waitFor(`order:${order}:paid`, { timeoutMs: 3 * 86_400_000 }),
 * });
 * ```
 */
export function waitFor(event: string, options: WaitTimeout = {}): Wait {
  refuseUnknownKeys('waitFor', options, waitKeys);
  assertId(event, 'The event');
  assertTimeout(options.timeoutMs);
  return new Wait({ kind: 'event', event, ...options });
}

/**
 * Waits for a time, counted from when the wait is stored.
 *
 * @throws LanefoldError `invalid_input`
 *
 * @example
 * ```ts
 * import { defineTool, sleep } from 'lanefold';
 * import { z } from 'zod';
 *
 * defineTool({
 *   name: 'wait_minutes',
 *   input: z.object({ minutes: z.int().positive() }),
 *   execute: ({ minutes }) => sleep(minutes * 60_000),
 * });
 * ```
 */
export function sleep(ms: number): Wait {
  assertWhole(ms ?? NaN, 'The time to sleep', { minimum: 0, maximum: maxWaitMs, hint: 'Pass milliseconds.' });
  return new Wait({ kind: 'time', timeoutMs: ms });
}

/**
 * Waits until a time. One that has passed ends the wait with the next sweep, within seconds.
 *
 * @throws LanefoldError `invalid_input`
 *
 * @example
 * ```ts
 * import { defineTool, sleepUntil } from 'lanefold';
 * import { z } from 'zod';
 *
 * defineTool({
 *   name: 'wait_until',
 *   input: z.object({ time: z.iso.datetime() }),
 *   execute: ({ time }) => sleepUntil(new Date(time)),
 * });
 * ```
 */
export function sleepUntil(time: Date): Wait {
  if (!(time instanceof Date) || Number.isNaN(time.getTime()) || time.getUTCFullYear() > 9999) {
    throw new LanefoldError('invalid_input', 'The time to sleep until is not a date.', { hint: 'Pass a Date.' });
  }
  return new Wait({ kind: 'time', until: time });
}

/** What a call asks of another agent. */
export interface AgentTask {
  /** The user message. */
  input: string;
  /**
   * What the agent knows besides: `none` (default), or a `fork` of the lane of its caller, as it was before the call.
   */
  context?: 'none' | 'fork';
  /** Merged over the agent's `toolContext`; the tool context of the caller is not passed on by itself. */
  toolContext?: JsonObject;
  /** Overrides the agent's model for this run. */
  model?: string;
  /** US dollars; at most what is left of the caller's `maxCost`. */
  maxCost?: number;
  maxIterations?: number;
}

export interface ChildRequest extends AgentTask {
  agent: string;
}

/** A run that a call has started, by its thread and id. */
export interface RunOfAgent {
  threadId: string;
  id: string;
}
