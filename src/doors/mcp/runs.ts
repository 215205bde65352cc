import type { CallToolResult } from '@modelcontextprotocol/server';
import { type RunJson, toolError, type Api } from './api.ts';

/** What a tool returns about a run: `runSchema` in tools/output-schema.ts describes it. */
interface RunAnswer {
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
    const hint = 'The messages so far are kept: call the agent again with this thread_id to continue.';
    return toolError({ code, message, hint, ...name });
  }
  if (run.status === 'cancelled') {
    const hint = 'Call the agent again with this thread_id to continue.';
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
  return `${name} is still running (${run.status}). ${ask} for its answer; do not start it again.`;
}

/** Whether the caller may end each kind of wait. */
export type Rights = Record<OpenCall['kind'], boolean>;

/** What the caller may do about the open calls of a run, so that it is asked and offered nothing else. */
export async function rightsOf(api: Pick<Api, 'may'>, run: RunJson): Promise<Rights> {
  const kinds = new Set(openCalls(run).map(({ kind }) => kind));
  const approval = kinds.has('approval') && (await api.may('approve', 'approveToolCall'));
  const event = kinds.has('event') && (await api.may('steer', 'resolveWait'));
  return { approval, event };
}

/** Who ends the waits of these calls, for a reader who may be allowed to end some of them. */
export function whoEnds(calls: readonly OpenCall[], rights: Rights): string {
  const has = (kind: OpenCall['kind'], mine: boolean) =>
    mine === rights[kind] && calls.some((call) => call.kind === kind);
  const tools = [
    ...(has('approval', true) ? ['lanefold_decide'] : []),
    ...(has('event', true) ? ['lanefold_resolve'] : []),
  ];
  return [
    ...(tools.length > 0 ? [`Decide with ${tools.join(' or ')}.`] : []),
    ...(has('approval', false)
      ? [
          'This key may not approve or deny: a person does, on the page or with `lanefold approve`, with a key that has the scope approve.',
        ]
      : []),
    ...(has('event', false)
      ? ['This key may not resolve a wait: its event does, or a person with a key that has the scope steer.']
      : []),
  ].join(' ');
}

const ends: readonly string[] = ['completed', 'failed', 'cancelled'];

export const hasEnded = ({ status }: Pick<RunJson, 'status'>): boolean => ends.includes(status);

/** A tool call of a run that a person can decide or resolve. */
export interface OpenCall {
  /** Its round and index, such as `1.0`. */
  call: string;
  kind: 'approval' | 'event';
  tool: string;
  /** What the model passed to the tool; for approvals. */
  arguments?: unknown;
  /** The event it waits for. */
  event?: string;
  /** When the wait ends by itself. */
  until?: string;
}

/** What a suspended run waits for that a person can give. Times and other runs come by themselves. */
export function openCalls({ status, waits, approvals }: RunJson): OpenCall[] {
  if (status !== 'suspended') return [];
  return waits.flatMap(({ call: name, kind, name: tool, event, until }): OpenCall[] => {
    const call = { call: name, tool, ...(until === null ? {} : { until }) };
    if (kind === 'event') return [{ ...call, kind, ...(event === null ? {} : { event }) }];
    const asked = approvals.find((one) => one.call === name);
    return kind === 'approval' ? [{ ...call, kind, arguments: asked?.arguments }] : [];
  });
}
