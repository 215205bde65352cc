import type { EnqueueOptions } from '../../../runs/operations/runs/enqueue-options.ts';
import { createHash } from 'node:crypto';
import { idGrammar } from '../../../base/checks/ids.ts';
import type { TenantLibrary } from '../../../features/library/library.ts';
import type { BranchReceipt } from '../../../database/store/branch/types.ts';
import type { RunHandle } from '../../../database/store/run/run.ts';
import type { BranchOptions } from '../../../runs/operations/threads/branch.ts';
import type { AgUiInput } from '../../../runs/formats/ag-ui/content.ts';
import { LanefoldError } from '../../../base/errors.ts';
import { interruptIdOf, type Answerable, isClientCall } from '../../../runs/formats/ag-ui/tool-round.ts';
import { assertStorable } from '../../../base/checks/values.ts';
import type { RunSnapshot } from '../../../runs/operations/runs/run-snapshot.ts';
import { assertResult } from '../../../runs/operations/waits/payload.ts';
import { toolCallIdOf, type AgUiMessage, type AgUiToolMessage } from '../../../runs/formats/ag-ui/event.ts';

export type Busy = NonNullable<EnqueueOptions['busy']>;

/** A request of a client that may use its thread. */
export interface AgUiRequest {
  agent: string;
  /** The thread's id, which may differ from the client's. */
  threadId: string;
  input: AgUiInput;
  /** The lane of the conversation; default: the active one. */
  contextRef?: string | undefined;
  /** Accepts the run of a new question. With `busy: 'interrupt'`, it may cancel a run: `active`, as far as is known. */
  enqueue(options: Asked, active?: string): Promise<RunHandle>;
  /** The same with a branch on which the run is. */
  branch(options: AskedOnBranch, active?: string): Promise<BranchReceipt>;
  /** The names of the tools of an agent; undefined if this process does not know it. */
  toolsOf(agent: string): readonly string[] | undefined;
  /** What a question does while another run is active. */
  busy: Busy;
  /** Throws if the client may not approve calls, or resolve them from waiting for an event. */
  assertMay(what: 'approve' | 'resolve'): void;
  /** The library that gives an answer to an interrupt or a call, which audits it. */
  answering(action: 'approveToolCall' | 'denyToolCall' | 'resolveWait', runId: string): TenantLibrary;
  /** Who answers, for the log. */
  by: string | undefined;
}

/** A question, as a run gets it. */
export type Asked = Pick<EnqueueOptions, 'agent' | 'input' | 'extraRefs' | 'busy'> & {
  threadId: string;
  requestId: string;
  createThread: true;
};

export type AskedOnBranch = Pick<BranchOptions, 'input' | 'extraRefs' | 'busy' | 'show'> & {
  agent: string;
  opId: string;
  afterSeq: number;
  contextRef: string;
};

const prefix = 'ag-ui:';

/** The request id of the run that an AG-UI run begins: repeating the request finds the same run. */
export function requestIdOf(runId: string): string {
  const id = prefix + runId;
  return idGrammar.test(id) ? id : prefix + createHash('sha256').update(runId).digest('hex');
}

/** Tools that the agent does not have: a client sends all of its tools to every agent. */
export function ignoredTools({ agent, input, toolsOf }: AgUiRequest): string[] {
  const known = input.tools.length > 0 ? toolsOf(agent) : undefined;
  return known ? input.tools.map(({ name }) => name).filter((name) => !known.includes(name)) : [];
}

/** @throws LanefoldError `interrupts_open` */
export function assertNoneLeft(runId: string, open: readonly Answerable[], named: ReadonlySet<string>): void {
  const left = open.map((wait) => interruptIdOf(runId, wait)).filter((id) => !named.has(id));
  if (left.length === 0) return;
  throw new LanefoldError('interrupts_open', `The run waits for answers to ${left.join(', ')}.`, {
    hint: 'Nothing was written. Send resume with an entry for each of them.',
    details: { interrupts: left },
  });
}

export const notFound = (id: string): LanefoldError =>
  new LanefoldError('interrupt_not_found', `The thread has no interrupt ${id.slice(0, 200)}.`, {
    hint: 'Nothing was written. Answer the interrupts of the last RUN_FINISHED, in one request.',
  });

export const ended = (id: string): LanefoldError =>
  new LanefoldError('interrupt_ended', `The interrupt ${id} has ended in another way.`, {
    hint: 'The first answer counts. Send cancelled for it to see what became of it.',
  });

export const invalid = (message: string): LanefoldError =>
  new LanefoldError('invalid_input', message, {
    hint: 'Nothing was written. See the responseSchema of each interrupt.',
  });

/** The result of a call that waits for the client. */
export interface ClientResult {
  wait: Answerable;
  message: AgUiToolMessage;
  given: { result: string } | { error: string };
  /** Its id, unless another message has it. */
  id: string | undefined;
}

/** The tool messages that answer calls of the client's own tools. */
export function resultsIn(
  run: RunSnapshot,
  open: readonly Answerable[],
  logged: readonly AgUiMessage[],
  messages: readonly AgUiMessage[],
): ClientResult[] {
  const parent = logged.findLast(({ role }) => role === 'assistant');
  if (!parent) return [];
  const waits = new Map(
    open
      .filter((wait) => isClientCall(run.id, wait))
      .map((wait) => [toolCallIdOf(parent.id, wait.index), wait] as const),
  );
  const taken = new Set(logged.map(({ id }) => id));
  return messages.flatMap((message) => {
    const wait = message.role === 'tool' ? waits.get(message.toolCallId) : undefined;
    if (message.role !== 'tool' || !wait) return [];
    // the first result counts
    waits.delete(message.toolCallId);
    assertStorable({ id: message.id }, 'The id of a result');
    const id = taken.has(message.id) ? undefined : message.id;
    taken.add(message.id);
    return [{ wait, message, given: givenBy(message), id }];
  });
}

/** What a call gets. @throws LanefoldError `invalid_input`, `invalid_text` */
function givenBy({ content, error }: AgUiToolMessage): { result: string } | { error: string } {
  const text = error || textOf(content);
  assertResult(text, 'The result of the client’s tool');
  return error ? { error } : { result: text };
}

function textOf(content: AgUiToolMessage['content']): string {
  if (typeof content === 'string') return content;
  const texts = content.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  if (texts.length === content.length) return texts.join('\n');
  throw new LanefoldError('invalid_input', 'The result of a client’s tool has parts that are not text.', {
    hint: 'Nothing was written. Send text or JSON.',
  });
}
