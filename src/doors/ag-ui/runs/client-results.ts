import { assertStorable } from '../../../base/checks/text.ts';
import { LanefoldError } from '../../../base/errors.ts';
import type { RunSnapshot } from '../../../runs/operations/runs/run-snapshot.ts';
import { assertResult } from '../../../runs/operations/waits/payload.ts';
import { isClientCall, type Answerable } from '../../../runs/formats/ag-ui/interrupts.ts';
import { toolCallIdOf, type AgUiMessage, type AgUiToolMessage } from '../../../runs/formats/ag-ui/message.ts';

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
