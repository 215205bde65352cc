import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import { isBlank } from '../../../base/checks/values.ts';
import type { JsonObject } from '../../../agent/context/message.ts';
import { laneView, type LaneMessage, type Turn } from '../mirror/lane-view.ts';
import type { LargeContent } from '../../../agent/context/large-content.ts';
import { assertPlain, maxImportChars, tooLarge, type Notes } from './notes.ts';
import type { PortableThread } from './line.ts';

/** A turn of a foreign history, and where it is there. */
export interface LocatedTurn {
  turn: Turn;
  where: string;
}

/** A history of another framework, read. */
export interface ForeignThread {
  format: Exclude<PortableThread['format'], 'lanefold'>;
  id?: string | undefined;
  turns: LocatedTurn[];
  notes: Notes;
  facts: JsonObject;
}

/** Moves large texts out of the messages. */
export type OutOfLine = (messages: LaneMessage[]) => { messages: LaneMessage[]; contents?: LargeContent[] };

const contextRef = 'default';

/** A thread of entries, from the turns of a foreign history: its prompt, then its messages in closed tool groups. */
export function convert({ format, id, turns, notes, facts }: ForeignThread, outOfLine: OutOfLine): PortableThread {
  for (const { turn, where } of turns) assertPlain(turn, where);
  const { prompt, messages: numbered } = laneView(numberRepeated(turns.map(({ turn }) => turn)), { over: true });
  const shown = numbered.map(withoutNumbers);
  noteTurns(turns, notes);
  for (const message of shown) noteMessage(message, notes);
  const { messages, contents = [] } = outOfLine(shown);
  const drafts: JsonObject[] = [
    ...(prompt === null ? [] : [{ kind: 'ai_config_change', payload: { field: 'system_prompt', value: prompt } }]),
    ...messages.map(({ role, refs, ...payload }) => ({
      kind: 'ai_message',
      context_ref: contextRef,
      role,
      payload: payload as unknown as JsonObject,
      ...(refs ? { refs } : {}),
    })),
  ];
  const entries = drafts.map((draft, seq) => JSON.stringify({ seq, ...draft }));
  const chars = [...entries, ...contents.map(({ text }) => text)].reduce((sum, text) => sum + text.length, 0);
  if (chars > maxImportChars) throw tooLarge();
  const hash = createHash('sha256').update(canonicalize({ format, drafts }) as string);
  return {
    format,
    id,
    entries,
    contents,
    runs: [],
    lanes: [],
    facts,
    notes: notes.list(),
    sets: prompt === null ? {} : { systemPrompt: true },
    hash: hash.digest('hex'),
  };
}

function noteTurns(turns: readonly LocatedTurn[], notes: Notes): void {
  const begun = turns.findIndex(({ turn }) => turn.is !== 'system');
  turns.forEach(({ turn, where }, i) => {
    if (turn.is === 'system' && begun >= 0 && i > begun)
      notes.changed(where, 'A system message after the beginning became a user message named system.');
    if (turn.is !== 'message') return;
    const { content } = turn.message;
    if (typeof content === 'string' ? isBlank(content) : content.length === 0)
      notes.leftOut(where, 'The message is blank; providers reject those.');
  });
}

function noteMessage({ role, name, refs, tool_call_id: callId }: LaneMessage, notes: Notes): void {
  if (refs?.['kind'] === 'repaired')
    notes.repaired(`tool call ${callId}`, `The call of ${name} has no result; it got an error result.`);
  if (role === 'user' && name === 'tool')
    notes.changed('a tool result', 'A result without a call became a user message named tool.');
  if (refs?.['cleaned'] === true)
    notes.changed(`a message of the role ${role}`, 'NUL characters and lone surrogates became U+FFFD.');
}

/** Separates an id from the number of its repetition; no text has this character. */
const mark = '\uffff';

/**
 * Numbers the calls of one answer that share an id, and gives each result to the next of them: a model may repeat an id
 * within an answer, and its results then bind by position.
 */
function numberRepeated(turns: readonly Turn[]): Turn[] {
  /** By the id that they share: how many calls there are, and how many have a result. */
  let open = new Map<string, { calls: number; results: number }>();
  const numbered = (id: string, earlier: number) => (earlier === 0 ? id : `${id}${mark}${earlier}`);
  return turns.map((turn) => {
    if (turn.is === 'result') {
      const same = open.get(turn.callId);
      return same && same.results < same.calls ? { ...turn, callId: numbered(turn.callId, same.results++) } : turn;
    }
    open = new Map();
    if (turn.is !== 'calls') return turn;
    const calls = turn.message.tool_calls.map((call) => {
      const same = open.get(call.id) ?? { calls: 0, results: 0 };
      open.set(call.id, same);
      return { ...call, id: numbered(call.id, same.calls++) };
    });
    return { ...turn, message: { ...turn.message, tool_calls: calls } };
  });
}

const plain = (id: string): string => id.replace(/\uffff\d+$/, '');

/** Undoes `numberRepeated`. */
function withoutNumbers(message: LaneMessage): LaneMessage {
  const { tool_calls: calls, tool_call_id: callId } = message;
  return {
    ...message,
    ...(calls ? { tool_calls: calls.map((call) => ({ ...call, id: plain(call.id) })) } : {}),
    ...(callId === undefined ? {} : { tool_call_id: plain(callId) }),
  };
}
