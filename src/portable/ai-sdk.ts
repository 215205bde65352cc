import type { Message, ToolCall } from '../context/message.ts';
import type { ForeignThread, LocatedTurn } from './convert.ts';
import { errorResult, fieldsOf, isText, Notes, type Fields } from './notes.ts';
import { assertPlain, notA } from './refused.ts';

/**
 * Reads `UIMessage`s of the AI SDK. Each step of an answer is one message with its calls, as `convertToModelMessages`
 * makes it.
 *
 * @throws LanefoldError `invalid_input`
 */
export function readAiSdk(given: unknown): ForeignThread {
  if (!Array.isArray(given)) throw notA('a list of UIMessages', 'it is not a list.');
  const notes = new Notes();
  const turns: LocatedTurn[] = [];
  given.forEach((each, i) => {
    const where = `messages[${i}]`;
    assertPlain(each, where);
    const { role, parts, metadata } = fieldsOf(each);
    if (!Array.isArray(parts)) throw notA('a list of UIMessages', `${where} has no parts.`);
    if (metadata !== undefined) notes.leftOut(`${where}.metadata`, 'Messages have no metadata.');
    const located = parts.map((part, k) => ({ part: fieldsOf(part), where: `${where}.parts[${k}]` }));
    if (role === 'assistant') for (const step of stepsOf(located)) turns.push(...answerOf(step, where, notes));
    else if (role === 'user' || role === 'system') turns.push(saidOf(role, located, where, notes));
    else throw notA('a list of UIMessages', `${where} has the role ${String(role)}.`);
  });
  return { format: 'ai-sdk', turns, notes, facts: {} };
}

interface Part {
  part: Fields;
  where: string;
}

const stepsOf = (parts: readonly Part[]): Part[][] => {
  const steps: Part[][] = [[]];
  for (const each of parts) {
    if (each.part['type'] === 'step-start') steps.push([]);
    else steps.at(-1)!.push(each);
  }
  return steps.filter((step) => step.length > 0);
};

function saidOf(role: 'user' | 'system', parts: readonly Part[], where: string, notes: Notes): LocatedTurn {
  const content = contentOf(parts, notes);
  if (role === 'user') return { turn: { is: 'message', message: { role, content } }, where };
  const texts = parts.map(({ part }) => part['text']).filter(isText);
  return { turn: { is: 'system', text: texts.join('\n') }, where };
}

function answerOf(parts: readonly Part[], where: string, notes: Notes): LocatedTurn[] {
  const tools = parts.filter(({ part }) => nameOf(part) !== undefined);
  const own = tools.filter(({ part, where }) => {
    if (part['providerExecuted'] !== true) return true;
    notes.leftOut(where, `The provider itself ran the tool ${nameOf(part)!}; other providers cannot read it.`);
    return false;
  });
  const reasoning = parts.filter(({ part }) => part['type'] === 'reasoning').map(({ part }) => part['text']);
  const thinking = reasoning.filter(isText).join('\n\n');
  const said = parts.filter((each) => !tools.includes(each) && each.part['type'] !== 'reasoning');
  const message: Message = { role: 'assistant', content: contentOf(said, notes), ...(thinking ? { thinking } : {}) };
  if (own.length === 0) return said.length > 0 ? [{ turn: { is: 'message', message }, where }] : [];
  const calls = own.map(({ part }) => toCall(part));
  const results = own.flatMap(({ part, where }): LocatedTurn[] => {
    const content = resultOf(part);
    if (content === undefined) return [];
    return [{ turn: { is: 'result', callId: String(part['toolCallId']), name: nameOf(part)!, content }, where }];
  });
  return [{ turn: { is: 'calls', message: { ...message, tool_calls: calls } }, where }, ...results];
}

/** The tool of a part: `tool-<name>`, or `dynamic-tool` with its name; undefined for other parts. */
function nameOf({ type, toolName }: Fields): string | undefined {
  if (type === 'dynamic-tool') return isText(toolName) ? toolName : 'tool';
  return typeof type === 'string' && type.startsWith('tool-') ? type.slice('tool-'.length) || 'tool' : undefined;
}

const toCall = (part: Fields): ToolCall => ({
  ...{ id: isText(part['toolCallId']) ? part['toolCallId'] : 'call', name: nameOf(part)! },
  arguments: (part['input'] ?? part['rawInput'] ?? {}) as ToolCall['arguments'],
});

/** Undefined: the call has no result. */
function resultOf({ state, output, errorText, approval }: Fields): string | undefined {
  if (state === 'output-available') return typeof output === 'string' ? output : JSON.stringify(output ?? null);
  if (state === 'output-error') return errorResult('tool_error', String(errorText ?? 'The tool failed.'));
  if (state !== 'output-denied') return undefined;
  const { reason } = fieldsOf(approval);
  return errorResult('denied', isText(reason) ? `The call was denied: ${reason}` : 'The call was denied.');
}

/** Texts and files; what else a message shows is noted. */
function contentOf(parts: readonly Part[], notes: Notes): Message['content'] {
  return notes.content(
    parts.flatMap(({ part, where }): { part: unknown; where: string }[] => {
      const { type, text, mediaType, url, filename } = part;
      if (type === 'text') return isText(text) ? [{ part: { type, text }, where }] : [];
      if (type === 'file') return [{ part: { type, mediaType, data: url, filename }, where }];
      notes.leftOut(where, `Lanefold has no part of the type ${String(type)}.`);
      return [];
    }),
  );
}
