import path from 'node:path';
import { grammarHint, isId } from './thread-id.ts';
import { invalidRecording } from './invalid-recording.ts';
import { jsonFault } from './json-fault.ts';
import { readMessages, type RecordedMessage } from './messages.ts';
import { parseJson } from '../common/json.ts';

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
