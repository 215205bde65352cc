import type { Json, ToolCall, JsonObject } from '../../../agent/context/message.ts';
import { toAgUiContent } from './content.ts';
import {
  toolCallIdOf,
  toolMessageIdOf,
  type AgUiEvent,
  type AgUiMessage,
  type AgUiToolMessage,
  type AgUiInterrupt,
} from './event.ts';
import { toToolCall } from './history.ts';
import type { RunWait } from '../../../database/store/run/types.ts';
import { waitsForClient } from '../../../agent/tools/define-tool.ts';
import { callName } from '../../../base/checks/call-name.ts';

/** The tool calls of a run's last message, and which of their results the client has. */
export class ToolRound {
  #messageId = '';
  /** Calls without a result in the log. */
  #calls: { index: number; answered: boolean }[] = [];

  /** A message with its calls; one without calls ends the round. */
  *begin(messageId: string, calls: readonly ToolCall[]): Generator<AgUiEvent> {
    this.#messageId = messageId;
    this.#calls = calls.map((_, index) => ({ index, answered: false }));
    for (const [index, call] of calls.entries()) {
      const { id: toolCallId, function: called } = toToolCall(toolCallIdOf(messageId, index), call);
      yield { type: 'TOOL_CALL_START', toolCallId, toolCallName: called.name, parentMessageId: messageId };
      yield { type: 'TOOL_CALL_ARGS', toolCallId, delta: called.arguments };
      yield { type: 'TOOL_CALL_END', toolCallId };
    }
  }

  get open(): boolean {
    return this.#calls.length > 0;
  }

  /** The id of a call; undefined if the conversation does not have it. */
  toolCallId(index: number): string | undefined {
    return this.#calls.some((call) => call.index === index) ? toolCallIdOf(this.#messageId, index) : undefined;
  }

  /** The call that an event is about, as the client knows it. */
  parentOf(index: number): { parentToolCallId?: string; parentMessageId?: string } {
    const parentToolCallId = this.toolCallId(index);
    return parentToolCallId === undefined ? {} : { parentToolCallId, parentMessageId: this.#messageId };
  }

  /** The client has the results of these calls already. */
  answered(toolCallIds: ReadonlySet<string>): void {
    for (const call of this.#calls) call.answered ||= toolCallIds.has(toolCallIdOf(this.#messageId, call.index));
  }

  /** The result of the next call in the log, where results are in the order of their calls. @param id from a client */
  *next(content: Json, id?: string): Generator<AgUiEvent> {
    const call = this.#calls.shift();
    if (!call || call.answered) return;
    const toolCallId = toolCallIdOf(this.#messageId, call.index);
    yield toResult({ id: id ?? toolMessageIdOf(toolCallId), toolCallId, content: toAgUiContent(content) });
  }

  /** Whether the client lacks the result of a call. */
  lacks(index: number): boolean {
    return this.#calls.some((call) => call.index === index && !call.answered);
  }

  /** Results that only the ledger has so far. @param messages of the conversation */
  *early(messages: readonly AgUiMessage[]): Generator<AgUiEvent> {
    for (const call of this.#calls) {
      const toolCallId = toolCallIdOf(this.#messageId, call.index);
      const result = messages.find((message) => message.role === 'tool' && message.toolCallId === toolCallId);
      if (call.answered || !result) continue;
      call.answered = true;
      yield toResult(result as AgUiToolMessage);
    }
  }
}

const toResult = ({ id: messageId, toolCallId, content }: Omit<AgUiToolMessage, 'role'>): AgUiEvent => ({
  type: 'TOOL_CALL_RESULT',
  messageId,
  toolCallId,
  role: 'tool',
  content,
});

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
