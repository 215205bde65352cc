import { LanefoldError } from '../errors.ts';

export const threadNotFound = (id: string): LanefoldError =>
  new LanefoldError('thread_not_found', `Thread ${id} does not exist.`, {
    hint: 'Check the id, or create the thread.',
  });

export const threadErased = (id: string): LanefoldError =>
  new LanefoldError('thread_erased', `Thread ${id} was erased.`, { hint: 'Its id cannot be reused.' });

export const runNotFound = (threadId: string, id: string): LanefoldError =>
  new LanefoldError('run_not_found', `Run ${id} of thread ${threadId} does not exist.`, { hint: 'Check the ids.' });
