import { wordOf } from '../../../base/checks/values.ts';
import type { JsonObject, Message, ToolCall } from '../../../agent/context/message.ts';
import { mergePlainText, toMetadata, type Block } from '../../../agent/models/answer.ts';
import type { ForeignThread, LocatedTurn } from './convert.ts';
import {
  errorResult,
  fieldsOf,
  isText,
  Notes,
  textOf,
  assertPlain,
  notA,
  type Fields,
  type ReadPart,
} from './notes.ts';

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
    notes.rest(each, where, ['role', 'parts', 'metadata']);
    const located = parts.map((part, k) => ({ given: fieldsOf(part), where: `${where}.parts[${k}]` }));
    if (role === 'assistant') for (const step of stepsOf(located)) turns.push(...answerOf(step, where, notes));
    else if (role === 'user')
      turns.push({ turn: { is: 'message', message: { role, content: contentOf(located, notes) } }, where });
    else if (role === 'system') turns.push({ turn: { is: 'system', text: notes.texts(located).join('\n') }, where });
    else throw notA('a list of UIMessages', `${where} has the role ${wordOf(role)}.`);
  });
  return { format: 'ai-sdk', turns, notes, facts: {} };
}

interface Part {
  given: Fields;
  where: string;
}

const stepsOf = (parts: readonly Part[]): Part[][] => {
  const steps: Part[][] = [[]];
  for (const each of parts) {
    if (each.given['type'] === 'step-start') steps.push([]);
    else steps.at(-1)!.push(each);
  }
  return steps.filter((step) => step.length > 0);
};

/** One answer of a model, laid out as its provider wants it back: signatures stay with what they sign. */
function answerOf(parts: readonly Part[], where: string, notes: Notes): LocatedTurn[] {
  const thoughts = parts.filter(({ given }) => given['type'] === 'reasoning');
  const called = parts.filter((part) => nameOf(part.given) !== undefined && isOwn(part, notes));
  const said = parts.filter(({ given }) => given['type'] !== 'reasoning' && nameOf(given) === undefined);
  const calls = new Map(called.map((part) => [part, toCall(part.given)]));
  for (const { given, where } of thoughts) notes.rest(given, where, ['type', 'text', 'providerMetadata', 'state']);
  for (const { given, where } of called) {
    notes.rest(given, where, ofCalls(given));
    notes.rest(given['approval'], `${where}.approval`, given['state'] === 'output-denied' ? ['reason'] : []);
  }
  const content = answered(said, notes);
  if (calls.size === 0 && content.length === 0) {
    for (const { where } of thoughts) notes.leftOut(where, 'No answer follows the reasoning.');
    return [];
  }
  const blocks = parts.flatMap((part): Block[] => {
    const call = calls.get(part);
    return call ? [{ type: 'tool-call', call }] : blocksOf(part.given);
  });
  const { reasoningDetails: details, providerMetadata: metadata } = toMetadata(mergePlainText(blocks));
  const thinking = thoughts
    .map(({ given }) => given['text'])
    .filter(isText)
    .join('\n\n');
  const message: Message = {
    role: 'assistant',
    content,
    ...(thinking === '' ? {} : { thinking }),
    ...(details === undefined ? {} : { reasoning_details: details }),
    ...(metadata === undefined || typeof content !== 'string' ? {} : { provider_metadata: metadata }),
  };
  if (calls.size === 0) return [{ turn: { is: 'message', message }, where }];
  const results = called.flatMap(({ given, where }): LocatedTurn[] => {
    const result = resultOf(given);
    if (result === undefined) return [];
    return [
      { turn: { is: 'result', callId: wordOf(given['toolCallId']), name: nameOf(given)!, content: result }, where },
    ];
  });
  return [{ turn: { is: 'calls', message: { ...message, tool_calls: [...calls.values()] } }, where }, ...results];
}

function isOwn({ given, where }: Part, notes: Notes): boolean {
  if (given['providerExecuted'] !== true) return true;
  notes.leftOut(where, `The provider itself ran the tool ${nameOf(given)!}; other providers cannot read it.`);
  return false;
}

/** As in a model's answer, with what its provider has signed. */
function blocksOf({ type, text, providerMetadata }: Fields): Block[] {
  if (type !== 'text' && type !== 'reasoning') return [];
  return [
    { type, text: textOf(text), ...(providerMetadata === undefined ? {} : { metadata: providerMetadata as never }) },
  ];
}

/** The tool of a part: `tool-<name>`, or `dynamic-tool` with its name; undefined for other parts. */
function nameOf({ type, toolName }: Fields): string | undefined {
  if (type === 'dynamic-tool') return isText(toolName) ? toolName : 'tool';
  return typeof type === 'string' && type.startsWith('tool-') ? type.slice('tool-'.length) || 'tool' : undefined;
}

const toCall = (given: Fields): ToolCall => ({
  id: isText(given['toolCallId']) ? given['toolCallId'] : 'call',
  name: nameOf(given)!,
  arguments: (given['input'] ?? given['rawInput'] ?? {}) as ToolCall['arguments'],
  ...(given['callProviderMetadata'] === undefined
    ? {}
    : { provider_metadata: given['callProviderMetadata'] as JsonObject }),
});

/** The fields of a call that the thread has. */
function ofCalls({ input, state }: Fields): string[] {
  const result = { 'output-available': 'output', 'output-error': 'errorText' }[wordOf(state)] ?? 'state';
  return [
    'type',
    'toolName',
    'toolCallId',
    'state',
    'approval',
    'callProviderMetadata',
    result,
    input == null ? 'rawInput' : 'input',
  ];
}

/** Undefined: the call has no result. */
function resultOf({ state, output, errorText, approval }: Fields): string | undefined {
  if (state === 'output-available') return typeof output === 'string' ? output : JSON.stringify(output ?? null);
  if (state === 'output-error') return errorResult('tool_error', textOf(errorText ?? 'The tool failed.'));
  if (state !== 'output-denied') return undefined;
  const { reason } = fieldsOf(approval);
  return errorResult('denied', isText(reason) ? `The call was denied: ${reason}` : 'The call was denied.');
}

/** An answer of texts is one text, as models write it; the metadata of each is in its layout. */
function answered(parts: readonly Part[], notes: Notes): Message['content'] {
  if (parts.some(({ given }) => given['type'] === 'file')) return contentOf(parts, notes);
  const shown = contentOf(
    parts.map(({ given, where }) => ({ given: { ...given, providerMetadata: undefined }, where })),
    notes,
  );
  return typeof shown === 'string' ? shown : shown.map((part) => textOf((part as { text?: unknown }).text)).join('');
}

/** Texts and files; what else a message shows is noted. */
function contentOf(parts: readonly Part[], notes: Notes): Message['content'] {
  const read = parts.flatMap(({ given, where }): ReadPart[] => {
    const { type, text, mediaType, url, filename, providerMetadata } = given;
    const own = providerMetadata === undefined ? {} : { provider_metadata: providerMetadata };
    if (type === 'text')
      return [
        {
          part: { type, text: textOf(text), ...own },
          where,
          given,
          read: ['type', 'text', 'providerMetadata', 'state'],
        },
      ];
    if (type === 'file')
      return [
        {
          part: { type, mediaType, data: url, filename, ...own },
          where,
          given,
          read: ['type', 'mediaType', 'url', 'filename', 'providerMetadata'],
        },
      ];
    notes.leftOut(where, `Lanefold has no part of the type ${wordOf(type)}.`);
    return [];
  });
  return notes.content(read);
}
