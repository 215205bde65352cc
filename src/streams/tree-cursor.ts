import { LanefoldError } from '../errors.ts';
import type { RunRef } from '../store/run/run.ts';

/** A run of a tree whose end has not been delivered. */
export interface Branch extends RunRef {
  /** `eventSeq` of its last event that was delivered; -1: none. */
  after: number;
  /** The thread of the run that started it; absent for the run at the top. */
  parentThreadId?: string;
}

/** How far the stream of a tree has come: the runs that it still follows, and how far each has come. */
export const encodeTreeCursor = (branches: Iterable<Branch>): string =>
  Buffer.from(
    JSON.stringify(
      [...branches].map(({ threadId, id, after, parentThreadId }) => [threadId, id, after, parentThreadId]),
    ),
  ).toString('base64url');

/** @throws LanefoldError `invalid_input` */
export function decodeTreeCursor(cursor: string): Branch[] {
  let read: unknown;
  try {
    read = JSON.parse(Buffer.from(cursor, 'base64url').toString());
  } catch {
    read = undefined;
  }
  if (!Array.isArray(read) || !read.every(isBranch)) {
    throw new LanefoldError('invalid_input', 'The cursor is not that of a stream of a tree.', {
      hint: 'Pass the cursor of an item that the stream has delivered, or omit it to begin with the first event.',
    });
  }
  return read.map(([threadId, id, after, parentThreadId]) => ({
    ...{ threadId, id, after },
    ...(parentThreadId === null ? {} : { parentThreadId }),
  }));
}

const isBranch = (value: unknown): value is [string, string, number, string | null] =>
  Array.isArray(value) &&
  value.length === 4 &&
  [0, 1].every((index) => typeof value[index] === 'string') &&
  Number.isSafeInteger(value[2]) &&
  (value[3] === null || typeof value[3] === 'string');
