import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { JsonObject, Message, ContentPart, ToolCall } from '../../../agent/context/message.ts';
import { cleanJson, isBlank, promptOf } from '../../../base/checks/values.ts';
import { acceptContent, type ContentInput } from '../../../agent/models/accept-content.ts';

/** A message of a lane; `refs.kind` marks the results that the history lacks. */
export type LaneMessage = Message & { refs?: JsonObject };

/** What a lane has to show for a history. */
export interface LaneView {
  /** The system messages that the history begins with. */
  prompt: string | null;
  messages: LaneMessage[];
}

type Calls = Extract<Turn, { is: 'calls' }>;
type Result = Extract<Turn, { is: 'result' }>;

/**
 * Orders the turns of a history as lanes and providers demand it: after a message with calls come their results, in the
 * order of the calls. A group at the end that lacks results is held back, because they may still come; a group in the
 * middle, or at the end of a history that is `over`, gets error results for those it lacks. Other frameworks allow more than a lane does: a later system message
 * becomes a user message named `system`, a result without a call one named `tool`, and blank messages are left out,
 * because providers reject them.
 */
export function laneView(turns: readonly Turn[], { over = false }: { over?: boolean } = {}): LaneView {
  const first = turns.findIndex((turn) => turn.is !== 'system');
  const prompts = turns.slice(0, first < 0 ? turns.length : first);
  const prompt = promptOf(prompts.map((turn) => (turn.is === 'system' ? turn.text : '')).join('\n\n'));
  const messages: LaneMessage[] = [];
  let open: { calls: Calls; ids: ReadonlySet<string>; results: Map<string, Result> } | undefined;
  const close = () => {
    if (open) for (const message of groupOf(open.calls, open.results)) messages.push(message);
    open = undefined;
  };
  for (const turn of turns.slice(prompts.length)) {
    if (turn.is === 'result') {
      if (open?.ids.has(turn.callId) && !open.results.has(turn.callId)) open.results.set(turn.callId, turn);
      else messages.push({ role: 'user', name: 'tool', content: turn.content });
      if (open?.results.size === open?.ids.size) close();
      continue;
    }
    close();
    if (turn.is === 'calls')
      open = { calls: turn, ids: new Set(turn.message.tool_calls.map(({ id }) => id)), results: new Map() };
    else messages.push(turn.is === 'system' ? { role: 'user', name: 'system', content: turn.text } : turn.message);
  }
  if (over) close();
  return { prompt: prompt && cleanJson(prompt).value, messages: messages.filter(isReadable).map(cleaned) };
}

function groupOf({ message }: Calls, results: ReadonlyMap<string, Result>): LaneMessage[] {
  const answers = message.tool_calls.map(({ id, name }): LaneMessage => {
    const result = results.get(id);
    return result
      ? { role: 'tool', tool_call_id: id, name: result.name ?? name, content: result.content }
      : { role: 'tool', tool_call_id: id, name, content: missing, refs: { kind: 'repaired' } };
  });
  return [message, ...answers];
}

/** Byte for byte what `_repair_messages` in db/sql writes. */
const missing =
  '{"ok":false,"error":{"type":"missing_result","message":"The result of this tool call was never recorded.","retryable":false}}';

const isReadable = ({ role, content, tool_calls: calls }: LaneMessage): boolean =>
  role === 'tool' || calls !== undefined || (typeof content === 'string' ? !isBlank(content) : content.length > 0);

function cleaned(message: LaneMessage): LaneMessage {
  const { value, cleaned: changed } = cleanJson(message);
  return changed ? { ...value, refs: { ...value.refs, cleaned: true } } : value;
}

/** What a lane shows, in short: its prompt, and a key for each message. */
export interface Shown {
  prompt: string | null;
  keys: string[];
}

export const shownOf = ({ prompt, messages }: LaneView): Shown => ({ prompt, keys: messages.map(keyOf) });

const keyOf = (message: LaneMessage): string =>
  createHash('sha256')
    .update(canonicalize(message) as string)
    .digest('base64url')
    .slice(0, 22);

/**
 * Content parts as a lane may have them. A part that no model accepts becomes the text `[its type]`: in the lane it
 * would fail every run.
 */
export const acceptableParts = (parts: readonly unknown[]): ContentPart[] =>
  parts.map((part) => {
    try {
      const [accepted] = acceptContent([part] as ContentInput) as ContentPart[];
      if (accepted) return accepted;
    } catch {
      // said in its place
    }
    const { type } = Object(part) as { type?: unknown };
    return { type: 'text', text: `[${typeof type === 'string' ? type : 'part'}]` };
  });

/** A list that is one text, as that text. */
export const plainIfOne = (parts: ContentPart[]): string | ContentPart[] => {
  const [only] = parts;
  if (!only) return '';
  return parts.length === 1 && only.type === 'text' && 'text' in only && Object.keys(only).length === 2
    ? (only.text as string)
    : parts;
};

/** What one item of another framework's history means for a lane. Items that no model reads have no turn. */
export type Turn =
  | { is: 'system'; text: string }
  | { is: 'message'; message: Message }
  /** An assistant message with calls, which opens a tool group. */
  | { is: 'calls'; message: Message & { tool_calls: ToolCall[] } }
  | { is: 'result'; callId: string; name?: string | undefined; content: string | ContentPart[] };
