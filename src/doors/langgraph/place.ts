import type { RunnableConfig } from '@langchain/core/runnables';
import { assertStorable } from '../../base/checks/text.ts';
import { LanefoldError } from '../../base/errors.ts';
import { assertThreadId } from './keys.ts';

/** Where checkpoints are: their thread, as LangGraph names it, and their namespace. */
export interface Place {
  threadId: string;
  ns: string;
}

/** @throws LanefoldError `invalid_id`, `invalid_input` without a thread */
export function placeOf(config: RunnableConfig): Place {
  const { thread_id: threadId, checkpoint_ns: ns = '' } = config.configurable ?? {};
  if (threadId === undefined) {
    throw new LanefoldError('invalid_input', 'The config has no thread_id.', {
      hint: 'Pass { configurable: { thread_id: … } } when you run the graph.',
    });
  }
  assertThreadId(threadId);
  if (typeof ns !== 'string') throw new LanefoldError('invalid_input', 'The checkpoint_ns is not a text.');
  assertStorable(ns, 'The checkpoint_ns');
  return { threadId, ns };
}
