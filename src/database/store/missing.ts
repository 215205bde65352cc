import { isLanefoldError, LanefoldError } from '../../base/errors.ts';

export const threadNotFound = (id: string): LanefoldError =>
  new LanefoldError('thread_not_found', `Thread ${id} does not exist.`, {
    hint: 'Check the id, or create the thread.',
  });

export const threadErased = (id: string): LanefoldError =>
  new LanefoldError('thread_erased', `Thread ${id} was erased.`, { hint: 'Its id cannot be reused.' });

export const runNotFound = (threadId: string, id: string): LanefoldError =>
  new LanefoldError('run_not_found', `Run ${id} of thread ${threadId} does not exist.`, { hint: 'Check the ids.' });

/** Whether what was asked for does not exist yet; an erased thread never will again. */
export const isMissing = (error: unknown): boolean =>
  isLanefoldError(error, 'thread_not_found') || isLanefoldError(error, 'run_not_found');

const gone = ['thread_not_found', 'thread_erased', 'run_not_found', 'tool_call_not_found'] as const;

/** For acts on a run that need not be there any more: throws all other errors again. */
export function unlessGone(error: unknown): undefined {
  if (!gone.some((code) => isLanefoldError(error, code))) throw error;
  return undefined;
}
