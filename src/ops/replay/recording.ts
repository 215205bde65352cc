import path from 'node:path';
import { invalidRecording, readMessages, type RecordedMessage } from './messages.ts';
import { parseJson } from '../../base/common/json.ts';
import { canonicalMessage, contextHash } from '../../agent/context/canonical.ts';
import type { Message } from '../../agent/context/message.ts';
import { writeCaseLine } from '../../features/evals/cases/case-line.ts';
import type { Expected } from '../../features/evals/types.ts';
import { parseObject } from '../../agent/models/parts.ts';
import { assertId } from '../../base/checks/ids.ts';
import { LanefoldError } from '../../base/errors.ts';

/** One recorded conversation: its messages, the system prompt first if there is one. */
export interface Conversation {
  /** Position in the file, from 0. */
  index: number;
  messages: RecordedMessage[];
}

export interface Recording {
  /** The file name without its extension; thread ids are derived from it. */
  name: string;
  conversations: Conversation[];
}

/**
 * Parses a recording: a JSON array of `{traj: [OpenAI chat messages]}`. Ignores other keys.
 *
 * @throws LanefoldError `invalid_input`; the message and `details` give the position: `line` and `column` of invalid
 * JSON, else `conversation` and `message`, both from 0
 */
export function parseRecording(file: string, text: string): Recording {
  const name = path.parse(file).name;
  if (!isId(name)) {
    throw invalidRecording(file, {}, `its name ${JSON.stringify(name)} cannot be part of a thread id`, grammarHint);
  }
  const data = valueOf(file, text);
  if (!Array.isArray(data)) throw invalidRecording(file, {}, 'it is not a JSON array of {"traj": [messages]}');
  if (data.length === 0) throw invalidRecording(file, {}, 'it has no conversations');
  const conversations = data.map((item: unknown, index): Conversation => {
    const traj = typeof item === 'object' && item !== null ? (item as { traj?: unknown }).traj : undefined;
    if (!Array.isArray(traj)) throw invalidRecording(file, { conversation: index }, 'it has no array "traj"');
    return { index, messages: readMessages(file, index, traj) };
  });
  return { name, conversations };
}

function valueOf(file: string, text: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    const before = text.slice(0, jsonFault(text)).split('\n');
    const position = { line: before.length, column: before.at(-1)!.length + 1 };
    const reason = (error as Error).message.replace(/ (in JSON )?at position .*$/s, '');
    throw invalidRecording(file, position, `it is not JSON (${reason})`);
  }
}

/**
 * The offset at which a text stops being valid JSON; its length if it ends too early. `JSON.parse` reports the position
 * only in some of its messages.
 */
export function jsonFault(text: string): number {
  let at = 0;
  const take = (token: RegExp): string | undefined => {
    token.lastIndex = at;
    const found = token.exec(text)?.[0];
    at += found?.length ?? 0;
    return found;
  };
  const members = (close: RegExp, member: () => boolean): boolean => {
    take(space);
    if (take(close)) return true;
    do {
      if (!member()) return false;
      take(space);
    } while (take(comma));
    return take(close) !== undefined;
  };
  const value = (): boolean => {
    take(space);
    if (take(/\[/y)) return members(/\]/y, value);
    if (take(/\{/y)) return members(/\}/y, () => key() && value());
    return take(string) !== undefined || take(other) !== undefined;
  };
  const key = (): boolean => {
    take(space);
    if (!take(string)) return false;
    take(space);
    return take(/:/y) !== undefined;
  };
  try {
    if (value()) take(space);
  } catch (error) {
    // nested deeper than the stack: it is unreadable from here on
    if (!(error instanceof RangeError)) throw error;
  }
  return at;
}

const space = /[ \t\r\n]*/y;
const comma = /,/y;

const string = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
const other = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;

/** Each turn of a recording as the line of a case: the messages before it, and what the model answered as expected. */
export function* casesIn({ conversations }: Recording, asked: { agent: string; model: string }): Generator<string> {
  for (const { messages: recorded } of conversations) {
    const messages = recorded.map(toMessage);
    for (const [index, message] of recorded.entries()) {
      if (message.role !== 'assistant') continue;
      const before = messages.slice(0, index);
      yield writeCaseLine({
        messages: before,
        contextHash: contextHash(before),
        ...asked,
        kind: 'call',
        expected: expectedOf(message),
        tags: [],
        split: null,
        note: null,
      });
    }
  }
}

/** The first call that the model made, or else its text. A blank turn says nothing. */
function expectedOf({ content, calls }: Extract<RecordedMessage, { role: 'assistant' }>): Expected | null {
  const [call] = calls;
  if (call) return { tool: { name: call.name, arguments: parseObject(call.arguments) ?? {} } };
  return content ? { answer: content } : null;
}

function toMessage(message: RecordedMessage): Message {
  const { role, content } = message;
  if (message.role === 'tool')
    return canonicalMessage({ role, content, tool_call_id: message.toolCallId, name: message.name });
  if (message.role !== 'assistant') return canonicalMessage({ role, content });
  const calls = message.calls.map(({ id, name, arguments: args }) => {
    const parsed = parseObject(args);
    return { id, name, arguments: parsed ?? {}, ...(parsed ? {} : { arguments_raw: args }) };
  });
  return canonicalMessage({ role, content, tool_calls: calls });
}

const grammarHint = 'Rename the file: use [A-Za-z0-9._:@-], starting with a letter or digit.';

const isId = (text: string): boolean => {
  try {
    assertId(text, '');
    return true;
  } catch (error) {
    if (error instanceof LanefoldError) return false;
    throw error;
  }
};

/** `<prefix><file name without extension>:<index from 0>`. @throws LanefoldError `invalid_id` */
export function recordingThreadId(prefix: string, name: string, index: number): string {
  const id = `${prefix}${name}:${index}`;
  assertId(id, 'The thread id');
  return id;
}
