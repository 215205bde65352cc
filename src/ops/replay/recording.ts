import path from 'node:path';
import { grammarHint, isId } from './thread-id.ts';
import { invalidRecording } from './invalid-recording.ts';
import { readMessages, type RecordedMessage } from './messages.ts';
import { parseJson } from '../../base/common/json.ts';

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
