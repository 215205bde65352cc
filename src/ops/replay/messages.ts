import type { Message } from '../../agent/context/message.ts';
import { LanefoldError } from '../../base/errors.ts';
import { acceptContent, type ContentInput } from '../../agent/models/accept-content.ts';
import { findFlaw, isStorable } from '../../base/checks/values.ts';

/** A validated OpenAI chat message. The `content` of an assistant may be null, which means the same as `""`. */
export type RecordedMessage =
  | { role: 'system'; content: string }
  | { role: 'user'; content: Message['content'] }
  | { role: 'assistant'; content: string | null; calls: RecordedCall[] }
  | { role: 'tool'; content: string; toolCallId: string; name: string };

interface RecordedCall {
  id: string;
  name: string;
  /** The provider's string, unparsed. */
  arguments: string;
}

/**
 * Validates the messages of one conversation: their format, and that runs could have produced them. A turn with tool
 * calls must be followed by one tool message per call, in call order, and every turn must belong to a user message.
 */
export function readMessages(file: string, conversation: number, traj: unknown[]): RecordedMessage[] {
  const open: RecordedCall[] = [];
  let asked = false;
  const messages = traj.map((item, message): RecordedMessage => {
    const fail = (why: string) => invalidRecording(file, { conversation, message }, why);
    const raw = (typeof item === 'object' && item !== null ? item : {}) as Record<string, unknown>;
    const { role } = raw;
    if (role !== 'tool' && open.length > 0)
      throw fail(`no tool message answers the preceding tool call ${open[0]!.id}`);
    switch (role) {
      case 'system':
        if (message > 0) throw fail('a system prompt may only be the first message');
        return { role, content: textOf(raw, fail) };
      case 'user': {
        const content = Array.isArray(raw['content']) ? partsOf(raw['content'], fail) : textOf(raw, fail);
        if (content.length === 0 || (typeof content === 'string' && content.trim() === ''))
          throw fail('the user message is blank');
        asked = true;
        return { role, content };
      }
      case 'assistant': {
        if (!asked) throw fail('no user message precedes this assistant message');
        const calls = callsOf(raw, fail);
        open.push(...calls);
        // A final answer must be followed by a user message.
        asked = calls.length > 0;
        return { role, content: raw['content'] == null ? null : textOf(raw, fail), calls };
      }
      case 'tool': {
        const next = open.shift();
        if (!next) throw fail('this tool message answers no open tool call');
        if (raw['tool_call_id'] !== next.id)
          throw fail(`it answers the tool call ${String(raw['tool_call_id'])}, but the next open one is ${next.id}`);
        const { name = next.name } = raw;
        if (typeof name !== 'string') throw fail('its name is not a string');
        return { role, content: textOf(raw, fail), toolCallId: next.id, name };
      }
      default:
        throw fail(`its role is ${JSON.stringify(role)}, not system, user, assistant or tool`);
    }
  });
  if (open.length > 0) {
    const last = { conversation, message: traj.length - 1 };
    throw invalidRecording(file, last, `no tool message answers the tool call ${open[0]!.id}`);
  }
  if (messages.length === 0) throw invalidRecording(file, { conversation }, 'it has no messages');
  return messages;
}

type Fail = (why: string) => Error;

function textOf(raw: Record<string, unknown>, fail: Fail): string {
  const { content } = raw;
  if (typeof content !== 'string') throw fail('its content is not a string');
  if (!isStorable(content)) throw fail('its content contains a NUL character or a lone surrogate');
  return content;
}

/** The parts of a user message, images too, as the log stores them. */
function partsOf(content: unknown[], fail: Fail): Message['content'] {
  const flaw = findFlaw(content);
  if (flaw) throw fail(`its content contains ${flaw.what}`);
  try {
    return acceptContent(content as ContentInput);
  } catch (error) {
    if (error instanceof LanefoldError) throw fail(error.message);
    throw error;
  }
}

function callsOf(raw: Record<string, unknown>, fail: Fail): RecordedCall[] {
  const calls = raw['tool_calls'] ?? [];
  if (!Array.isArray(calls)) throw fail('its tool_calls are not an array');
  return calls.map((call: unknown, i) => {
    const { id, function: called } = Object(call) as { id?: unknown; function?: unknown };
    const { name, arguments: args } = Object(called) as { name?: unknown; arguments?: unknown };
    if (typeof id !== 'string' || id === '') throw fail(`its tool call ${i} has no id`);
    if (typeof name !== 'string' || !/^[A-Za-z0-9_-]{1,64}$/.test(name))
      throw fail(`its tool call ${i} has no valid function name (1 to 64 characters of [A-Za-z0-9_-])`);
    if (typeof args !== 'string') throw fail(`the arguments of its tool call ${i} are not a string`);
    if (![id, args].every(isStorable)) throw fail(`its tool call ${i} contains a NUL character or a lone surrogate`);
    return { id, name, arguments: args };
  });
}

/** Where a recording is invalid. Indices count from 0, lines and columns from 1. */
interface Position {
  line?: number;
  column?: number;
  conversation?: number;
  message?: number;
}

/** The error for an invalid recording, with the position in its message and in `details`. */
export function invalidRecording(file: string, position: Position, why: string, hint?: string): LanefoldError {
  const where = [
    position.line === undefined ? undefined : `line ${position.line}, column ${position.column}`,
    position.conversation === undefined ? undefined : `conversation ${position.conversation}`,
    position.message === undefined ? undefined : `message ${position.message}`,
  ].filter((part) => part !== undefined);
  return new LanefoldError('invalid_input', `${[file, ...where].join(', ')}: ${why}.`, {
    hint: hint ?? 'A recording is a JSON array of {"traj": [OpenAI chat messages]}.',
    details: { file, ...position },
  });
}
