import type { StateEffect } from '../context/state.ts';
import { represent } from './represent.ts';
import { maskSecrets } from '../../base/redaction/sensitive-keys.ts';

/**
 * An error with a type, thrown by a tool; it may say whether a retry can help.
 *
 * Any thrown value with a string `type` or `code` and a boolean `retryable` has the same effect.
 *
 * @example
 * ```ts
 * import { defineTool, ToolError } from 'lanefold';
 * import { z } from 'zod';
 *
 * defineTool({
 *   name: 'quote',
 *   description: 'Price of a share',
 *   input: z.object({}),
 *   execute: () => {
 *     throw new ToolError('The upstream is busy', { type: 'rate_limited', retryable: true });
 *   },
 * });
 * ```
 */
export class ToolError extends Error {
  readonly type: string;
  readonly retryable: boolean | undefined;
  /** Applied to the state of the thread if this error ends the call. */
  readonly effects: readonly StateEffect[] | undefined;

  constructor(
    message: string,
    options: { type?: string; retryable?: boolean; effects?: readonly StateEffect[]; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'ToolError';
    this.type = options.type ?? 'tool_error';
    this.retryable = options.retryable;
    this.effects = options.effects;
  }
}

/** Why a call failed, as recorded in `run_tool_call` and shown to the model. */
export interface ToolFailure {
  type: string;
  message: string;
  retryable: boolean;
}

/** The effects of a ToolError; undefined for any other error. */
export const effectsOf = (thrown: unknown): readonly unknown[] | undefined =>
  thrown instanceof ToolError && Array.isArray(thrown.effects) ? thrown.effects : undefined;

/**
 * Whether a thrown value states that the call had no effect. Any value with an explicit `retryable` does, and so does a
 * ToolError, unless its type says that the outcome was lost.
 */
export function statesOutcome(thrown: unknown): boolean {
  try {
    if (typeof (Object(thrown) as { retryable?: unknown }).retryable === 'boolean') return true;
    return thrown instanceof ToolError && !retryableTypes.has(thrown.type);
  } catch {
    return false;
  }
}

const retryableTypes = new Set(['timeout', 'transient', 'transient_error', 'rate_limited']);

/**
 * Converts anything a tool throws to a ToolFailure. An explicit `retryable` takes precedence over the type. Never
 * throws.
 *
 * The model reads the message. The message of a ToolError was written for it; the message of any other exception comes from a
 * driver or client and may quote its configuration, so credentials are masked.
 */
export function readThrown(thrown: unknown): ToolFailure {
  try {
    const { type, code, retryable } = Object(thrown) as Record<string, unknown>;
    const kind = [type, code].find((name) => typeof name === 'string' && name !== '') as string | undefined;
    return {
      type: kind ?? 'exception',
      message: thrown instanceof ToolError ? messageOf(thrown) : maskSecrets(messageOf(thrown)),
      retryable: typeof retryable === 'boolean' ? retryable : kind !== undefined && retryableTypes.has(kind),
    };
  } catch {
    // A getter or a proxy of the thrown value threw.
    return { type: 'exception', message: 'The tool threw an unreadable value', retryable: false };
  }
}

function jsonOf(thrown: object): string {
  try {
    return JSON.stringify(represent(thrown));
  } catch {
    // unlike a result, an error may lose what JSON cannot show
    return JSON.stringify(thrown) ?? String(thrown);
  }
}

function messageOf(thrown: unknown): string {
  if (typeof thrown === 'object' && thrown !== null) {
    const { message, name } = thrown as { message?: unknown; name?: unknown };
    if (typeof message === 'string' && message !== '') return message;
    if (thrown instanceof Error) return typeof name === 'string' && name !== '' ? name : 'Error';
    return jsonOf(thrown);
  }
  return thrown === undefined || thrown === null || thrown === ''
    ? 'The tool failed without a message'
    : String(thrown);
}
