import type { JsonObject, Message, ToolCall } from '../context/message.ts';
import type { ForeignThread, LocatedTurn } from './convert.ts';
import { argumentsOf, fieldsOf, isText, Notes, type Fields } from './notes.ts';
import { assertPlain, notA } from './refused.ts';

/**
 * Reads items of OpenAI's Responses or Conversations API, or messages of its Chat Completions API: a list, the object
 * with `data` that lists them, or a response with `instructions` and `output`.
 *
 * @throws LanefoldError `invalid_input`
 */
export function readOpenAi(given: unknown): ForeignThread {
  const reader = new Reader();
  const { object, data, output, instructions, id } = fieldsOf(given);
  const items = Array.isArray(given) ? given : (data ?? output);
  if (!Array.isArray(items)) throw notA('an export of OpenAI', 'it has no list of items.');
  if (isText(instructions)) reader.add({ turn: { is: 'system', text: instructions }, where: 'instructions' });
  items.forEach((item, i) => {
    assertPlain(item, `items[${i}]`);
    reader.read(fieldsOf(item), `items[${i}]`);
  });
  reader.end();
  const source: JsonObject = isText(id) && isText(object) ? { source_id: id, source_object: object } : {};
  return { format: 'openai', turns: reader.turns, notes: reader.notes, facts: source };
}

class Reader {
  readonly turns: LocatedTurn[] = [];
  readonly notes = new Notes();
  /** The summary of reasoning, for the message that follows it. */
  #thinking: string[] = [];

  add(located: LocatedTurn): void {
    const { turn } = located;
    if (
      this.#thinking.length > 0 &&
      turn.is !== 'result' &&
      turn.is !== 'system' &&
      turn.message.role === 'assistant'
    ) {
      turn.message.thinking = this.#thinking.join('\n\n');
      this.#thinking = [];
    }
    this.turns.push(located);
  }

  read(item: Fields, where: string): void {
    const { type, call_id: callId } = item;
    switch (type) {
      case 'function_call':
      case 'custom_tool_call':
        return this.#call(toCall(item), where);
      case 'function_call_output':
      case 'custom_tool_call_output':
        return this.add({
          turn: { is: 'result', callId: String(callId), content: this.#content(item['output'], `${where}.output`) },
          where,
        });
      case 'reasoning':
        return this.#reason(item, where);
      case undefined:
      case 'message':
        return this.#say(item, where);
      default:
        this.notes.leftOut(where, `Lanefold has no item of the type ${String(type)}.`);
    }
  }

  /** Lists of OpenAI's API are newest first unless they are requested otherwise. @throws LanefoldError `invalid_input` */
  end(): void {
    if (this.#thinking.length > 0) this.notes.leftOut('the last reasoning', 'No answer follows it.');
    const called = new Set<string>();
    const early = new Set<string>();
    for (const { turn } of this.turns) {
      if (turn.is === 'result' && !called.has(turn.callId)) early.add(turn.callId);
      if (turn.is === 'calls') for (const { id } of turn.message.tool_calls) called.add(id);
    }
    if (called.size > 0 && [...called].every((id) => early.has(id)))
      throw notA(
        'a chronological export of OpenAI',
        'every result comes before its call. List the items with order=asc.',
      );
  }

  /** Calls that follow each other, or a message, belong to one answer. */
  #call(call: ToolCall, where: string): void {
    const last = this.turns.at(-1)?.turn;
    if (last?.is === 'calls') last.message.tool_calls.push(call);
    else if (last?.is === 'message' && last.message.role === 'assistant' && this.#thinking.length === 0)
      this.turns[this.turns.length - 1]!.turn = { is: 'calls', message: { ...last.message, tool_calls: [call] } };
    else this.add({ turn: { is: 'calls', message: { role: 'assistant', content: '', tool_calls: [call] } }, where });
  }

  #reason({ summary, encrypted_content: encrypted }: Fields, where: string): void {
    const texts = (Array.isArray(summary) ? summary : []).map((part) => fieldsOf(part)['text']).filter(isText);
    this.#thinking.push(...texts);
    if (isText(encrypted)) this.notes.leftOut(`${where}.encrypted_content`, 'Only OpenAI can read it.');
    else if (texts.length === 0) this.notes.leftOut(where, 'The reasoning has no summary.');
  }

  #say(item: Fields, where: string): void {
    const { role, tool_calls: calls } = item;
    const content = () => this.#content(item['content'], `${where}.content`);
    const name = isText(item['name']) ? { name: item['name'] } : {};
    if (role === 'system' || role === 'developer') {
      const text = content();
      this.add({ turn: { is: 'system', text: typeof text === 'string' ? text : textsOf(text) }, where });
    } else if (role === 'tool')
      this.add({ turn: { is: 'result', callId: String(item['tool_call_id']), ...name, content: content() }, where });
    else if (role === 'user')
      this.add({ turn: { is: 'message', message: { role, content: content(), ...name } }, where });
    else if (role !== 'assistant') this.notes.leftOut(where, `Lanefold has no message of the role ${String(role)}.`);
    else if (!Array.isArray(calls) || calls.length === 0)
      this.add({ turn: { is: 'message', message: { role, content: content(), ...name } }, where });
    else {
      const toolCalls = calls.map((call) => {
        const { id, function: called, custom } = fieldsOf(call);
        return toCall({ call_id: id, ...fieldsOf(called ?? custom) });
      });
      this.add({ turn: { is: 'calls', message: { role, content: content(), ...name, tool_calls: toolCalls } }, where });
    }
  }

  #content(given: unknown, where: string): Message['content'] {
    if (!Array.isArray(given)) return typeof given === 'string' ? given : given == null ? '' : JSON.stringify(given);
    return this.notes.content(given.map((part, i) => ({ part: partOf(fieldsOf(part)), where: `${where}[${i}]` })));
  }
}

const textsOf = (parts: Exclude<Message['content'], string>): string =>
  parts.flatMap((part) => ('text' in part && typeof part.text === 'string' ? [part.text] : [])).join('\n');

const toCall = ({ call_id: id, name, arguments: given, input }: Fields): ToolCall => ({
  ...{ id: isText(id) ? id : 'call', name: isText(name) ? name : 'tool' },
  ...(given === undefined && input !== undefined ? { arguments: { input: input as string } } : argumentsOf(given)),
});

/** A part as `acceptContent` knows it. */
function partOf(part: Fields): unknown {
  switch (part['type']) {
    case 'input_text':
    case 'output_text':
    case 'text':
    case 'summary_text':
      return { type: 'text', text: String(part['text'] ?? '') };
    case 'refusal':
      return { type: 'text', text: String(part['refusal'] ?? '') };
    case 'input_image':
      return isText(part['image_url']) ? { type: 'image_url', image_url: { url: part['image_url'] } } : part;
    case 'input_file': {
      const { file_data: data, file_url: url, filename } = part;
      if (isText(data)) return { type: 'file', file: { file_data: data, filename } };
      return isText(url) ? { type: 'file', data: url, mediaType: 'application/octet-stream', filename } : part;
    }
    default:
      return part;
  }
}
