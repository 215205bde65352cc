import { wordOf } from '../../../base/checks/values.ts';
import { isCut } from '../../../agent/context/fold.ts';
import type { Json, JsonObject, ToolCall } from '../../../agent/context/message.ts';
import type { Versions, VersionsOnLane } from '../../../database/store/branch/read-versions.ts';
import type {
  ConversationCall,
  ConversationEntry,
  ConversationPage,
  ConversationRun,
  WaitingQuestion,
} from '../../../database/store/log/read-conversation.ts';
import { callName } from '../../../base/checks/call-name.ts';
import {
  questionId,
  toContentParts,
  toErrorText,
  toOutput,
  textOrJson,
  UniqueIds,
  type AnswerMetadata,
  type UiMessage,
  type UiToolPart,
  type UiChunk,
  type UiPart,
} from './message.ts';

/** A conversation as the AI SDK's messages: the same messages its client has after reading the stream of each run. */
export function toUiMessages(
  threadId: string,
  { entries, runs, silent }: ConversationPage,
  waiting: WaitingQuestion[],
  versions?: VersionsOnLane,
): UiMessage[] {
  const messages: UiMessage[] = [];
  const answers = new Map<string, Answer>();
  const runOf = new Map(runs.map((run) => [run.id, run]));
  const answerOf = (id: string, run: ConversationRun | undefined): Answer => {
    let answer = answers.get(id);
    if (!answer) {
      answers.set(id, (answer = new Answer(id)));
      if (run) answer.message.metadata = toMetadata(threadId, run);
      messages.push(answer.message);
    }
    return answer;
  };

  const addVersions = (message: UiMessage, found: Versions | undefined): void => {
    if (found && !message.metadata?.versions) message.metadata = { ...message.metadata, versions: found };
  };

  let openAnswer: Answer | undefined;
  for (const entry of entries) {
    const { seq, role, runId, requestId, payload, refs } = entry;
    const run = runId === null ? undefined : runOf.get(runId);
    if (role === 'user' && runId !== null && refs['kind'] !== undefined) {
      // other user messages within a run come from the runtime itself
      if (refs['kind'] === 'steer' || refs['kind'] === 'inject') answerOf(runId, run).steer(entry);
    } else if (role === 'user') {
      openAnswer = undefined;
      const id = runId === null ? `entry_${seq}` : questionId(runId, requestId);
      const question: UiMessage = { id, role, parts: toContentParts(payload['content'] ?? '') };
      addVersions(question, versions?.of(seq));
      messages.push(question);
      // a run that ended without any message still shows how it ended
      if (run && run.terminationReason !== null) answerOf(run.id, run);
    } else if (role === 'assistant') {
      openAnswer = answerOf(runId ?? `entry_${seq}`, run);
      openAnswer.addStep(entry);
      addVersions(openAnswer.message, versions?.of(seq));
    } else {
      openAnswer?.addResult(payload, refs);
    }
  }
  for (const run of silent) addVersions(answerOf(run.id, run).message, versions?.ofSilence());
  for (const { runId, requestId, content } of waiting) {
    // claimed after the runs were read
    if (runOf.has(runId)) continue;
    messages.push({ id: questionId(runId, requestId), role: 'user', parts: toContentParts(content) });
  }
  return messages;
}

const toMetadata = (threadId: string, run: ConversationRun): AnswerMetadata => ({
  thread_id: threadId,
  run_id: run.id,
  ...(run.usage && run.terminationReason !== null ? { usage: run.usage } : {}),
  ...(run.status === 'completed' && run.terminationReason ? { termination_reason: run.terminationReason } : {}),
  ...(run.terminationReason !== null && isCut(run.finishReason) ? { truncated: true as const } : {}),
  ...(run.error ? { error: { type: run.error.type, message: run.error.message } } : {}),
});

/** An assistant message under construction. */
class Answer {
  readonly message: UiMessage;
  readonly #ids = new UniqueIds();
  /** The last step's calls that have no result in the log yet, with the positions of their parts. */
  #open: { call: ConversationCall | undefined; at: number }[] = [];

  constructor(id: string) {
    this.message = { id, role: 'assistant', parts: [] };
  }

  steer({ seq, payload, refs }: ConversationEntry): void {
    const parts = toContentParts(payload['content'] ?? '');
    this.message.parts.push({ type: 'steering-message', id: wordOf(refs['input_id'] ?? seq), parts });
  }

  addStep({ payload, refs, calls }: ConversationEntry): void {
    const { parts } = this.message;
    parts.push({ type: 'step-start' });
    const { thinking, content } = payload;
    const callId = refs['llm_call_id'];
    if (typeof thinking === 'string' && thinking !== '')
      parts.push({
        type: 'reasoning',
        ...(callId ? { id: `${textOrJson(callId)}.reasoning` } : {}),
        text: thinking,
        state: 'done',
      });
    for (const part of content === undefined || content === null || content === '' ? [] : toContentParts(content))
      parts.push(part.type === 'text' ? { ...part, state: 'done' } : part);
    this.#open = [];
    for (const [index, call] of ((payload['tool_calls'] ?? []) as unknown as ToolCall[]).entries()) {
      const ledger = calls?.find((row) => row.index === index);
      this.#open.push({ call: ledger, at: parts.length });
      parts.push(toToolPart(this.#ids.shown(call.id), call, ledger, ledger?.result ?? undefined));
    }
  }

  addResult(payload: JsonObject, refs: JsonObject): void {
    const open = this.#open.shift();
    if (!open) return;
    const part = this.message.parts[open.at] as UiToolPart;
    const content = payload['content'] ?? '';
    const call = { name: part.type.slice('tool-'.length), arguments: part.input };
    const outside = { status: isError(content, refs) ? 'error' : 'ok', approval: null };
    this.message.parts[open.at] = toToolPart(part.toolCallId, call, open.call ?? outside, content);
  }
}

/** Outside a run there is no ledger, so the result's form decides. */
const isError = (content: Json, refs: JsonObject): boolean =>
  refs['kind'] === 'repaired' || (Object(toOutput(content)) as JsonObject)['ok'] === false;

function toToolPart(
  toolCallId: string,
  { name, arguments: input }: Pick<ToolCall, 'name' | 'arguments'>,
  call: Partial<ConversationCall> | undefined,
  content: Json | undefined,
): UiToolPart {
  const part = { type: `tool-${name}` as const, toolCallId, input };
  const { decision, reason } = call?.approval ?? {};
  const id = callName(call ?? {});
  const why = reason ? { reason } : {};
  const approval = decision === 'approved' ? { approval: { id, approved: true as const, ...why } } : {};
  if (call?.status === 'denied') return { ...part, state: 'output-denied', approval: { id, approved: false, ...why } };
  if (content === undefined) {
    if (call?.status === 'awaiting_approval') return { ...part, state: 'approval-requested', approval: { id } };
    if (approval.approval)
      return { ...part, state: 'approval-responded', ...(approval as { approval: typeof approval.approval }) };
    return { ...part, state: 'input-available' };
  }
  if (call?.status === 'ok') return { ...part, state: 'output-available', output: toOutput(content), ...approval };
  return { ...part, state: 'output-error', errorText: toErrorText(content), ...approval };
}

/** The answer of a run that has ended, as the stream that gives its reader this message. */
export function* replay({ id, metadata, parts }: UiMessage): Generator<UiChunk> {
  yield { type: 'start', messageId: id, messageMetadata: metadata };
  let inStep = false;
  for (const [at, part] of parts.entries()) {
    if (part.type === 'step-start') {
      if (inStep) yield { type: 'finish-step' };
      inStep = true;
    }
    yield* chunksOf(part, `${id}.${at}`);
  }
  if (inStep) yield { type: 'finish-step' };
  const { error, truncated, termination_reason: reason } = metadata ?? {};
  if (error?.type === 'cancelled') yield { type: 'abort', reason: error.message };
  else if (error) yield { type: 'error', errorText: error.message };
  else yield { type: 'finish', finishReason: truncated ? 'length' : reason === 'final_answer' ? 'stop' : 'other' };
}

function* chunksOf(part: UiPart, place: string): Generator<UiChunk> {
  switch (part.type) {
    case 'step-start':
      return yield { type: 'start-step' };
    case 'text':
    case 'reasoning': {
      const { type, text } = part;
      const id = (type === 'reasoning' && part.id) || place;
      yield { type: `${type}-start`, id };
      yield { type: `${type}-delta`, id, delta: text };
      return yield { type: `${type}-end`, id };
    }
    case 'file':
    case 'steering-message':
      return yield { ...part };
    default:
      yield* ofCall(part);
  }
}

function* ofCall(part: UiToolPart): Generator<UiChunk> {
  const { type, toolCallId, input } = part;
  yield { type: 'tool-input-available', toolCallId, toolName: type.slice('tool-'.length), input };
  if ('approval' in part && part.approval) {
    const { id: approvalId, ...decision } = part.approval;
    yield { type: 'tool-approval-request', approvalId, toolCallId };
    if ('approved' in decision) yield { type: 'tool-approval-response', approvalId, ...decision };
  }
  if (part.state === 'output-available') yield { type: 'tool-output-available', toolCallId, output: part.output };
  if (part.state === 'output-error') yield { type: 'tool-output-error', toolCallId, errorText: part.errorText };
  if (part.state === 'output-denied') yield { type: 'tool-output-denied', toolCallId };
}
