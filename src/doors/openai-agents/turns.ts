import type { AgentInputItem } from '@openai/agents-core';
import type { ContentPart, Json, Message, ToolCall } from '../../agent/context/message.ts';
import { acceptableParts, plainIfOne } from '../../runs/formats/mirror/content.ts';
import type { Turn } from '../../runs/formats/mirror/turn.ts';
import { maxDepth, parseJson } from '../../base/common/json.ts';

type Fields = Record<string, unknown>;

/** The turns of a session. Items of tools that providers run themselves, and reasoning, have none. */
export function turnsOf(items: readonly AgentInputItem[]): Turn[] {
  const turns: Turn[] = [];
  for (const item of items) {
    const fields = Object(item) as Fields;
    const last = turns.at(-1);
    // calls that follow each other are calls of one answer
    if (fields['type'] === 'function_call' && last?.is === 'calls') last.message.tool_calls.push(toCall(fields));
    else {
      const turn = turnOf(fields);
      if (turn) turns.push(turn);
    }
  }
  return turns;
}

function turnOf(item: Fields): Turn | undefined {
  switch (item['type']) {
    case 'function_call':
      return { is: 'calls', message: { role: 'assistant', content: '', tool_calls: [toCall(item)] } };
    case 'function_call_result':
      return {
        ...{ is: 'result', callId: String(item['callId']), content: outputOf(item['output']) },
        ...(typeof item['name'] === 'string' && item['name'] !== '' ? { name: item['name'] } : {}),
      };
    case undefined:
    case 'message':
      return said(item);
    default:
      return undefined;
  }
}

function said({ role, content }: Fields): Turn | undefined {
  if (role === 'system') return { is: 'system', text: typeof content === 'string' ? content : '' };
  if (role !== 'user' && role !== 'assistant') return undefined;
  return { is: 'message', message: { role, content: contentOf(content) } };
}

const toCall = ({ callId, name, arguments: given }: Fields): ToolCall => ({
  id: typeof callId === 'string' && callId !== '' ? callId : 'call',
  name: typeof name === 'string' && name !== '' ? name : 'tool',
  ...argumentsOf(given),
});

function argumentsOf(given: unknown): Pick<ToolCall, 'arguments' | 'arguments_raw'> {
  if (typeof given !== 'string') return { arguments: {} };
  try {
    return { arguments: parseJson(given, maxDepth) as Json, arguments_raw: given };
  } catch {
    return { arguments: {}, arguments_raw: given };
  }
}

const contentOf = (content: unknown): Message['content'] =>
  Array.isArray(content)
    ? plainIfOne(acceptableParts(content.map((part) => partOf(Object(part) as Fields))))
    : typeof content === 'string'
      ? content
      : '';

const outputOf = (output: unknown): string | ContentPart[] =>
  typeof output === 'string' ? output : contentOf(Array.isArray(output) ? output : [output]);

/** A part as `acceptContent` knows it. */
function partOf(part: Fields): unknown {
  switch (part['type']) {
    case 'input_text':
    case 'output_text':
    case 'text':
      return { type: 'text', text: String(part['text'] ?? '') };
    case 'refusal':
      return { type: 'text', text: String(part['refusal'] ?? '') };
    case 'audio':
      return typeof part['transcript'] === 'string' ? { type: 'text', text: part['transcript'] } : { type: 'audio' };
    case 'input_image':
    case 'image':
      return { type: 'image', image: sourceOf(part['image']) };
    case 'input_file':
    case 'file': {
      const source = sourceOf(part['file']);
      const { mediaType, filename = part['filename'] } = Object(part['file']) as Fields;
      return { type: 'file', data: source, mediaType, filename };
    }
    default:
      return part;
  }
}

/** `{data}` and `{url}` are sources; ids of uploaded files are not, and become a placeholder. */
const sourceOf = (given: unknown): unknown => {
  const { data, url } = Object(given) as Fields;
  return data ?? url ?? given;
};
