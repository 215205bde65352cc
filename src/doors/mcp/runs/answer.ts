import type { CallToolResult } from '@modelcontextprotocol/server';
import type { RunJson } from '../api.ts';
import { toolError } from '../errors.ts';
import { whoEnds, type Rights } from './rights.ts';
import { hasEnded, openCalls, type OpenCall } from './state.ts';

/** What a tool returns about a run: `runSchema` in tools/output-schema.ts describes it. */
export interface RunAnswer {
  thread_id: string;
  run_id: string;
  status: RunJson['status'];
  termination_reason?: string;
  truncated?: true;
  output?: unknown;
  open_calls?: OpenCall[];
}

/**
 * A run as the result of a tool call. A run that failed or was cancelled is an error of the tool; a run that has not ended
 * is not, because nothing is lost.
 *
 * @param fits whether a result matches the output schema of the tool; one that does not is only in the text
 * @param rights what the caller may do about open calls
 */
export function answerOf(run: RunJson, fits: (result: unknown) => boolean, rights: Rights): CallToolResult {
  const name = { thread_id: run.thread_id, run_id: run.id };
  if (run.status === 'failed') {
    const { type: code, message } = run.error ?? { type: 'failed', message: 'The run failed.' };
    const hint = 'The messages so far are kept: call the agent again with this thread_id to go on.';
    return toolError({ code, message, hint, ...name });
  }
  if (run.status === 'cancelled') {
    const hint = 'Call the agent again with this thread_id to go on.';
    return toolError({ code: 'run_cancelled', message: 'The run was cancelled.', hint, ...name });
  }
  const calls = openCalls(run);
  const structured: RunAnswer = {
    ...name,
    status: run.status,
    ...(run.termination_reason === null ? {} : { termination_reason: run.termination_reason }),
    ...(run.truncated ? { truncated: true } : {}),
    ...(run.result !== null && fits(run.result) ? { output: run.result as unknown } : {}),
    ...(calls.length === 0 ? {} : { open_calls: calls }),
  };
  return {
    content: [{ type: 'text', text: textOf(run, calls, rights) }],
    structuredContent: structured as unknown as Record<string, unknown>,
  };
}

function textOf(run: RunJson, calls: OpenCall[], rights: Rights): string {
  const name = `Run ${run.id} of thread ${run.thread_id}`;
  if (hasEnded(run)) {
    if (run.result === null) return `${name} ended without an answer (${run.termination_reason}).`;
    return typeof run.result === 'string' ? run.result : JSON.stringify(run.result);
  }
  const ask = `Call lanefold_run_result with thread_id ${JSON.stringify(run.thread_id)} and run_id ${JSON.stringify(run.id)}`;
  if (calls.length > 0) {
    const waits = calls.map(({ call, kind, tool, event }) =>
      kind === 'approval' ? `${call} (${tool}) waits for approval` : `${call} (${tool}) waits for the event ${event}`,
    );
    return `${name} is suspended: ${waits.join('; ')}. ${whoEnds(calls, rights)} ${ask} for the answer afterwards.`;
  }
  if (run.unattended)
    return `${name} is ${run.status}, and no worker can take it: ${run.unattended.message} ${ask} later.`;
  return `${name} goes on (${run.status}). ${ask} for its answer; do not start it again.`;
}
