import type { Run } from '../../store/run/run.ts';
import type { CallResult } from '../../store/wait/end-wait.ts';
import { errorMessage } from '../../tools/error-message.ts';
import { renderResult } from '../../tools/result.ts';

/** In bytes. The caller applies the limit of its tool, which only it knows. */
const largest = 16_777_216;

/** The result of a call that waited for a run: the answer of the run, or why it has none. */
export function childResult(run: Run): CallResult {
  const { threadId, id, agent } = run;
  const { status, content } = resultOf(run);
  return { status, content, refs: { child_run: { agent, thread_id: threadId, run_id: id } } };
}

function resultOf({ agent, status, result, error, terminationReason }: Run): Pick<CallResult, 'status' | 'content'> {
  const failed = (type: string, message: string) => errorMessage({ type, message, retryable: false });
  if (status === 'cancelled') return failed('agent_cancelled', `The agent ${agent} was cancelled.`);
  if (status === 'failed') return failed('agent_failed', `The agent ${agent} failed: ${error?.message ?? 'unknown'}`);
  if (result === null)
    return failed('agent_no_result', `The agent ${agent} ended without an answer: ${terminationReason}.`);
  return renderResult(result, largest);
}
