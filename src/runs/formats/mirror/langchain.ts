import { wordOf } from '../../../base/checks/values.ts';
import type { Json, JsonObject, Message, ToolCall } from '../../../agent/context/message.ts';
import { acceptableParts, plainIfOne, type Turn } from './lane-view.ts';
import { parseJson } from '../../../base/common/json.ts';

export interface Serialised {
  lc?: number;
  type?: string;
  id?: unknown;
  kwargs?: Kwargs;
}

export interface Kwargs {
  type?: string;
  role?: string;
  name?: unknown;
  content?: unknown;
  tool_calls?: unknown;
  tool_call_id?: unknown;
}

/**
 * The turns of a channel of LangChain messages, from their serialised form; undefined for a channel that has something
 * else.
 */
export function turnsOf(texts: readonly string[]): Turn[] | undefined {
  const turns: Turn[] = [];
  for (const text of texts) {
    const turn = turnOf(Object(parseJson(text)) as Serialised);
    if (turn === undefined) return undefined;
    if (turn) turns.push(turn);
  }
  return turns;
}

/** The turns of a channel whose value is stored as one text: an empty list has none. */
export const turnsOfText = (text: string): Turn[] | undefined => (text === '[]' ? [] : undefined);

/** Null: a message that no model reads; undefined: something else than a message. */
export function turnOf({ lc, type, id, kwargs }: Serialised): Turn | null | undefined {
  if (lc !== 1 || type !== 'constructor' || !Array.isArray(id) || id[1] !== 'messages' || !kwargs) return undefined;
  switch (wordOf(id.at(-1)).replace(/Chunk$/, '')) {
    case 'SystemMessage':
      return { is: 'system', text: textOf(kwargs) };
    case 'AIMessage':
      return answer(kwargs);
    case 'ToolMessage':
      return { is: 'result', callId: wordOf(kwargs.tool_call_id), name: nameOf(kwargs), content: contentOf(kwargs) };
    case 'RemoveMessage':
      return null;
    case 'HumanMessage':
      return said('user', kwargs);
    default:
      return said(kwargs.role === 'assistant' ? 'assistant' : 'user', { ...kwargs, name: kwargs.name ?? kwargs.role });
  }
}

const said = (role: 'user' | 'assistant', kwargs: Kwargs): Turn => {
  const name = nameOf(kwargs);
  return { is: 'message', message: { role, content: contentOf(kwargs), ...(name === undefined ? {} : { name }) } };
};

function answer(kwargs: Kwargs): Turn {
  const calls = Array.isArray(kwargs.tool_calls) ? (kwargs.tool_calls as JsonObject[]) : [];
  const name = nameOf(kwargs);
  const message: Message = { role: 'assistant', content: contentOf(kwargs), ...(name === undefined ? {} : { name }) };
  if (calls.length === 0) return { is: 'message', message };
  return {
    is: 'calls',
    message: { ...message, tool_calls: calls.map((call, i) => toCall(Object(call) as JsonObject, i)) },
  };
}

const toCall = ({ id, name, args }: JsonObject, i: number): ToolCall => ({
  id: typeof id === 'string' && id !== '' ? id : `call_${i}`,
  name: typeof name === 'string' && name !== '' ? name : 'tool',
  arguments: (args ?? {}) as Json,
});

const nameOf = ({ name }: Kwargs): string | undefined => (typeof name === 'string' && name !== '' ? name : undefined);

/** Blocks that repeat `tool_calls`, or that only their provider can read. */
const unread = new Set(['tool_use', 'tool_call', 'function_call', 'thinking', 'redacted_thinking', 'reasoning']);

function contentOf({ content }: Kwargs): Message['content'] {
  if (!Array.isArray(content)) return typeof content === 'string' ? content : '';
  const blocks = content.map((block) =>
    typeof block === 'string' ? { type: 'text', text: block } : (block as unknown),
  );
  return plainIfOne(acceptableParts(blocks.filter((block) => !unread.has(wordOf((Object(block) as Serialised).type)))));
}

function textOf(kwargs: Kwargs): string {
  const content = contentOf(kwargs);
  if (typeof content === 'string') return content;
  return content.map((part) => ('text' in part && typeof part.text === 'string' ? part.text : '')).join('\n');
}
