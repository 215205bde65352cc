import type { Lanefold } from '../../lanefold/lanefold.ts';
import type { Mismatch } from './mismatch.ts';
import type { Conversation } from './recording.ts';
import { runsIn, systemPromptOf, type ReplayedRun } from './turns.ts';

export interface DriveOptions {
  agent: string;
  thread: string;
  signal: AbortSignal;
  onRun: () => void;
  onMismatch: (mismatch: Mismatch) => void;
}

/**
 * Replays one conversation, run by run, in a new thread. Stops at a failed run, because nothing after it could match.
 */
export async function driveConversation(
  lanefold: Lanefold,
  conversation: Conversation,
  { agent, thread, signal, onRun, onMismatch }: DriveOptions,
): Promise<void> {
  const systemPrompt = systemPromptOf(conversation);
  await lanefold.threads.create({ id: thread, ...(systemPrompt === undefined ? {} : { systemPrompt }) });
  for (const run of runsIn(conversation)) {
    signal.throwIfAborted();
    if (run.turns.length === 0) {
      await lanefold.threads.append(thread, [{ message: { role: 'user', content: run.input } }]);
      continue;
    }
    const { ended, failed } = await work(run);
    onRun();
    if (ended !== run.ends) {
      onMismatch({ thread, at: 'run', message: run.user, field: 'end', expected: run.ends, received: ended });
    }
    if (failed) return;
  }

  async function work({ user, input, turns }: ReplayedRun): Promise<{ ended: string; failed: boolean }> {
    const accepted = await lanefold.runs.enqueue({
      agent,
      threadId: thread,
      requestId: `message-${user}`,
      input,
      model: `replay:${conversation.index}`,
      maxIterations: turns.length,
      toolContext: { conversation: conversation.index, user },
    });
    const run = await lanefold.runs.wait(accepted, { signal });
    if (run.status === 'completed') return { ended: run.terminationReason ?? run.status, failed: false };
    return { ended: `${run.status}: ${run.error?.message ?? run.terminationReason}`, failed: true };
  }
}
