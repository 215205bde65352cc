import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import type { Json, Message } from '../../src/agent/context/message.ts';
import { parseObject } from '../../src/agent/models/parts.ts';
import type { RecordedMessage } from '../../src/ops/replay/messages.ts';
import { parseRecording } from '../../src/ops/replay/recording.ts';

const fixtures = path.join(import.meta.dirname, '../replay/fixtures');

/**
 * The conversations of the folder or file `LANEFOLD_RECORDINGS`, else those of the replay suite, as the log has them.
 * `onlyLong`: none without the variable, because those of the suite are too short for any cache.
 */
export function recordedMessages({ onlyLong = false } = {}): Message[][] {
  const given = process.env['LANEFOLD_RECORDINGS'] || undefined;
  const from = given ?? (onlyLong ? undefined : fixtures);
  if (from === undefined || !existsSync(from)) return [];
  const files = statSync(from).isDirectory()
    ? readdirSync(from).flatMap((name) => (name.endsWith('.json') ? [path.join(from, name)] : []))
    : [from];
  return files.flatMap((file) =>
    parseRecording(file, readFileSync(file, 'utf8')).conversations.map(({ messages }) => messages.map(asLogged)),
  );
}

function asLogged(message: RecordedMessage): Message {
  if (message.role === 'tool') {
    return { role: 'tool', content: message.content, tool_call_id: message.toolCallId, name: message.name };
  }
  if (message.role !== 'assistant') return message;
  const calls = message.calls.map(({ id, name, arguments: raw }) => {
    return { id, name, arguments: (parseObject(raw) ?? {}) as Json, arguments_raw: raw };
  });
  return { role: 'assistant', content: message.content ?? '', ...(calls.length > 0 ? { tool_calls: calls } : {}) };
}
