import type { Json, JsonObject } from '../../../agent/context/message.ts';
import { acceptMessage, assertNotBlank, type MessageInput } from '../../../agent/models/accept-content.ts';
import { assertId, assertRefs } from '../../../base/checks/ids.ts';
import { assertStorable } from '../../../base/checks/values.ts';
import { isObject } from '../../../base/common/json.ts';
import { LanefoldError } from '../../../base/errors.ts';
import type { Database } from '../../../database/postgres/pool.ts';
import { assertNotHistory } from '../../../database/store/history/read-payloads.ts';
import { appendEntries } from '../../../database/store/log/append-entries.ts';
import type { AppendReceipt } from '../../../database/store/log/types.ts';
import { requestHash } from '../runs/enqueue-request.ts';

/** An entry to append: a message, or an entry of your own kind. */
export type NewEntry =
  | {
      kind?: 'ai_message';
      contextRef?: string;
      message: MessageInput;
      refs?: JsonObject;
    }
  /** The default kind is `note`, the default payload `{}`. */
  | { kind?: string; contextRef?: string; payload?: JsonObject; refs?: JsonObject; message?: never };

/** See `Threads.append`. */
export async function append(
  db: Database,
  threadId: string,
  entries: NewEntry[],
  { expectedRev, opId, repair }: { expectedRev?: number; opId?: string; repair?: boolean } = {},
): Promise<AppendReceipt> {
  assertId(threadId, 'The thread id');
  const drafts = entries.map(toDraft);
  assertStorable(drafts, 'The entries');
  assertNotHistory(
    drafts.map(({ kind }) => kind),
    opId,
  );
  const hash = opId && requestHash(drafts);
  return appendEntries(db, threadId, { drafts, expectedRev, idempotencyKey: opId, hash, repair });
}

function toDraft(entry: NewEntry): JsonObject {
  if (entry.contextRef !== undefined) assertId(entry.contextRef, 'The context_ref');
  assertRefs(entry.refs);
  const shared = { context_ref: entry.contextRef, refs: entry.refs };
  const given = messageOf(entry);
  if (given !== undefined) {
    const message = acceptMessage(given);
    // the database rejects anything that is not a message
    if ((message as Partial<MessageInput> | null)?.role === 'user') assertNotBlank(message.content, 'The message');
    return { kind: 'ai_message', payload: message as unknown as Json, ...shared } as JsonObject;
  }
  const { kind = 'note', payload = {} } = entry as { kind?: string; payload?: JsonObject };
  assertId(kind, 'The kind');
  if (payload === null || typeof payload !== 'object' || Array.isArray(payload)) {
    throw new LanefoldError('invalid_input', `The payload of an entry of kind ${kind} is not an object.`, {
      hint: 'Pass { … }.',
    });
  }
  return { kind, payload, ...shared } as JsonObject;
}

/** The message of an entry. The API has it as the payload, as the log does. */
function messageOf(entry: NewEntry): MessageInput | undefined {
  if (entry.message !== undefined) return entry.message;
  return entry.kind === 'ai_message' && isObject(entry.payload)
    ? (entry.payload as unknown as MessageInput)
    : undefined;
}
