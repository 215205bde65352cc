import { wordOf } from '../../../base/checks/values.ts';
import { parseJson } from '../../../base/common/json.ts';
import { turnOf, type Serialised } from '../mirror/langchain.ts';
import type { ForeignThread, LocatedTurn } from './convert.ts';
import { fieldsOf, Notes, readPart, assertPlain, notA, type Fields } from './notes.ts';
import type { Turn } from '../mirror/lane-view.ts';

/** What is read of a LangGraph checkpointer. Every `BaseCheckpointSaver`, such as `PostgresSaver`, is one. */
export interface CheckpointReader {
  getTuple(config: { configurable: Record<string, string> }): Promise<ReadCheckpoint | undefined>;
}

/** The parts of a checkpoint that an import reads. */
export interface ReadCheckpoint {
  checkpoint: { id: string; ts: string; channel_values: Record<string, unknown> };
  pendingWrites?: [taskId: string, channel: string, value: unknown][];
}

interface LangGraphPlace {
  threadId: string;
  channel?: string | undefined;
}

/**
 * Reads the messages of a thread's newest checkpoint. Writes nothing.
 *
 * @throws LanefoldError `invalid_input` for a thread without checkpoints, or whose channel has something else
 */
export async function readLangGraph(saver: CheckpointReader, place: LangGraphPlace): Promise<ForeignThread> {
  const { threadId, channel = 'messages' } = place;
  const tuple = await saver.getTuple({ configurable: { thread_id: threadId, checkpoint_ns: '' } });
  if (!tuple) throw notA('a thread of this checkpointer', `it has no checkpoint of ${JSON.stringify(threadId)}.`);
  const { checkpoint, pendingWrites = [] } = tuple;
  const values = fieldsOf(checkpoint)['channel_values'];
  if (!Array.isArray(pendingWrites) || Object(values) !== values)
    throw notA('a thread of this checkpointer', 'its checkpoint has another form.');
  const { [channel]: messages, ...others } = values as Fields;
  if (messages === undefined)
    throw notA(
      'a LangGraph thread',
      `its checkpoint has no channel ${channel}; it has ${Object.keys(others).join(', ') || 'none'}.`,
    );
  if (!Array.isArray(messages)) throw notA('a LangGraph thread', `its channel ${channel} is not a list of messages.`);
  const notes = new Notes();
  const turns: LocatedTurn[] = messages.flatMap((message, i) => {
    const where = `${channel}[${i}]`;
    const serialised = serialise(message, where);
    const turn = turnOf(serialised);
    if (turn === undefined) throw notA('a LangGraph thread', `${where} is not a message.`);
    if (turn === null) notes.leftOut(where, 'It removes another message.');
    else noteKwargs(fieldsOf(serialised.kwargs), turn, where, notes);
    return turn === null ? [] : [{ turn, where }];
  });
  for (const name of Object.keys(others)) {
    // channels of LangGraph itself
    if (!name.startsWith('__') && !name.startsWith('branch:'))
      notes.leftOut(`channel ${name}`, 'Lanefold has no channels; put what tools need into the state of the thread.');
  }
  pendingWrites.forEach((write, i) =>
    notes.leftOut(
      `pendingWrites[${i}]`,
      `The write to ${wordOf(fieldsOf(write)[1])} was not part of a checkpoint yet.`,
    ),
  );
  const facts = { source_id: threadId, checkpoint_id: checkpoint.id, checkpoint_at: checkpoint.ts };
  assertPlain(facts, 'checkpoint');
  return { format: 'langgraph', id: threadId, turns, notes, facts };
}

/** A message as JSON. @throws LanefoldError `invalid_input` */
function serialise(message: unknown, where: string): Serialised {
  let text: string | undefined;
  try {
    text = JSON.stringify(message);
  } catch (error) {
    throw notA('a LangGraph thread', `${where} is not JSON: ${(error as Error).message}`);
  }
  const value: unknown = parseJson(text ?? 'null');
  assertPlain(value, where);
  return Object(value) as Serialised;
}

/** What a message says besides what `turnOf` reads of it. A tool result without a status has succeeded. */
function noteKwargs(kwargs: Fields, turn: Turn, where: string, notes: Notes): void {
  const { content, tool_calls: calls, invalid_tool_calls: invalid, status } = kwargs;
  const read = ['content', 'type', 'role', 'invalid_tool_calls'];
  if (turn.is !== 'system') read.push('name');
  if (turn.is === 'calls') read.push('tool_calls');
  if (turn.is === 'result') read.push('tool_call_id');
  if (status === 'success') read.push('status');
  notes.rest(kwargs, where, read);
  for (const [i, call] of (turn.is === 'calls' ? (calls as unknown[]) : []).entries())
    notes.rest(call, `${where}.tool_calls[${i}]`, ['type', 'id', 'name', 'args']);
  if (Array.isArray(invalid) && invalid.length > 0)
    notes.leftOut(`${where}.invalid_tool_calls`, 'Calls whose arguments could not be parsed.');
  noteBlocks(content, turn, `${where}.content`, notes);
}

function noteBlocks(content: unknown, turn: Turn, where: string, notes: Notes): void {
  if (!Array.isArray(content)) return;
  const shown = content.flatMap((block: unknown, i) => {
    const given = fieldsOf(typeof block === 'string' ? { type: 'text', text: block } : block);
    const type = wordOf(given['type']);
    const at = `${where}[${i}]`;
    if (unread.has(type)) notes.leftOut(at, `Only its provider can read a block of the type ${type}.`);
    return unread.has(type) || repeated.has(type) ? [] : [{ given, where: at }];
  });
  if (turn.is === 'system') notes.texts(shown);
  else notes.content(shown.map(({ given, where }) => readPart(given, where)));
}

/** Blocks that only their provider reads; those that repeat `tool_calls` are no loss. */
const unread = new Set(['thinking', 'redacted_thinking', 'reasoning']);
const repeated = new Set(['tool_use', 'tool_call', 'function_call']);
