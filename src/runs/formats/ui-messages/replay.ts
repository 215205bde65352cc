import type { UiChunk, UiMessage, UiPart, UiToolPart } from './message.ts';

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
