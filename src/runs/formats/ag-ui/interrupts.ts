import type { RunWait } from '../../../database/store/run/types.ts';
import type { JsonObject } from '../../../agent/context/message.ts';
import { waitsForClient } from '../../../agent/tools/define-tool.ts';
import type { AgUiInterrupt } from './event.ts';
import { callName } from '../../../base/checks/unknown-keys.ts';

/** A wait that a client can end. Others end by themselves: a time comes, or another run ends. */
export type Answerable = RunWait & { kind: 'approval' | 'event' };

/** The open waits of a run that a client can end. */
export const answerableOf = ({ waits }: { waits: readonly RunWait[] }): Answerable[] =>
  waits.filter((wait): wait is Answerable => wait.kind === 'approval' || wait.kind === 'event');

/** Whether the client runs the tool of this call. */
export const isClientCall = (runId: string, wait: Answerable): boolean => waitsForClient(runId, wait);

/** The id of an interrupt names its call, so that a late answer finds what became of it. */
export const interruptIdOf = (runId: string, wait: Pick<RunWait, 'kind' | 'round' | 'index'>): string =>
  `${wait.kind}:${runId}:${callName(wait)}`;

export function readInterruptId(
  id: string,
): { kind: 'approval' | 'event'; runId: string; round: number; index: number } | undefined {
  const [, kind, runId, round, index] = /^(approval|event):(.+):(\d{1,4})\.(\d{1,4})$/.exec(id) ?? [];
  if (kind === undefined || runId === undefined) return undefined;
  return { kind: kind as 'approval' | 'event', runId, round: Number(round), index: Number(index) };
}

const decision: JsonObject = {
  type: 'object',
  properties: { approved: { type: 'boolean' }, reason: { type: 'string' } },
  required: ['approved'],
  additionalProperties: false,
};

/** A wait as the protocol describes it. @param toolCallId of its call, if the conversation has it */
export function toInterrupt(runId: string, wait: Answerable, toolCallId: string | undefined): AgUiInterrupt {
  const { kind, name, round, index, event, until } = wait;
  const approval = kind === 'approval';
  return {
    id: interruptIdOf(runId, wait),
    reason: approval && toolCallId !== undefined ? 'tool_call' : 'input_required',
    message: approval
      ? `May ${name} be called?`
      : isClientCall(runId, wait)
        ? `${name} waits for the result of the client.`
        : `${name} waits for the event ${event}.`,
    ...(toolCallId === undefined ? {} : { toolCallId }),
    responseSchema: approval ? decision : {},
    ...(until === null ? {} : { expiresAt: until.toISOString() }),
    metadata: {
      lanefold: { run_id: runId, round, index, tool_name: name, kind, ...(event === null ? {} : { event }) },
    },
  };
}
