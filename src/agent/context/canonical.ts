import canonicalize from 'canonicalize';
import { createHash, type Hash } from 'node:crypto';
import type { Json, Message } from './message.ts';
import { parseJson } from '../../base/common/json.ts';

/** The canonical JSON of a message (RFC 8785: sorted keys, shortest numbers), the input of its hash. */
export const canonicalJson = (message: Message): string => canonicalize(message) as string;

/**
 * A message in the form the log returns, even if it has not been stored yet: no nulls, no empty `tool_calls`, and
 * sorted keys in nested values, because `jsonb` does not preserve key order. Every prompt is built from this form, so a
 * resumed run sends the same bytes as the one that died.
 */
export function canonicalMessage(raw: Partial<Record<keyof Message, unknown>>): Message {
  const message: Record<string, unknown> = { role: raw.role, content: sorted(raw.content ?? '') };
  if (Array.isArray(raw.tool_calls) && raw.tool_calls.length > 0) message['tool_calls'] = sorted(raw.tool_calls);
  for (const key of ['tool_call_id', 'name', 'thinking', 'reasoning_details', 'provider_metadata'] as const) {
    if (raw[key] != null) message[key] = sorted(raw[key]);
  }
  return message as unknown as Message;
}

const sorted = (value: unknown): Json =>
  typeof value === 'string' ? value : (parseJson(canonicalize(value) as string) as Json);

/** Incremental SHA-256 of a growing context: the canonical messages, each followed by a newline. */
export class ContextHash {
  readonly #hash: Hash = createHash('sha256');

  push(message: Message): void {
    this.#hash.update(canonicalJson(message)).update('\n');
  }

  /** Hex digest of the messages so far. */
  digest(): string {
    return this.#hash.copy().digest('hex');
  }
}

/**
 * The `context_hash` of a whole context.
 *
 * @example
 * ```ts
 * import { contextHash } from 'lanefold';
 *
 * console.log(contextHash([{ role: 'user', content: 'Hello' }]));
 * ```
 */
export function contextHash(messages: Iterable<Message>): string {
  const hash = new ContextHash();
  for (const message of messages) hash.push(message);
  return hash.digest();
}

/**
 * Position of the first message of `before` that differs in `after` or is missing there; undefined if `after` begins
 * with all of `before`.
 */
export function differsAt(before: readonly Message[], after: readonly Message[]): number | undefined {
  const at = before.findIndex((message, i) => !after[i] || canonicalJson(message) !== canonicalJson(after[i]));
  return at < 0 ? undefined : at;
}
