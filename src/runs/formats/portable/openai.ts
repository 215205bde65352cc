import { isBlank, wordOf } from '../../../base/checks/values.ts';
import type { JsonObject, Message, ToolCall } from '../../../agent/context/message.ts';
import type { ForeignThread, LocatedTurn } from './convert.ts';
import {
  argumentsOf,
  fieldsOf,
  isText,
  Notes,
  readPart,
  textOf,
  assertPlain,
  notA,
  type Fields,
  type ReadPart,
} from './notes.ts';

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
  if (!Array.isArray(given)) {
    const known = [
      'object',
      ...(isText(id) && isText(object) ? ['id'] : []),
      ...(isText(instructions) ? ['instructions'] : []),
    ];
    reader.notes.rest(given, '', [...known, items === data ? 'data' : 'output']);
  }
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
  /** Summaries of reasoning, for the answer that follows them. */
  #thinking: { text: string; where: string }[] = [];

  add(located: LocatedTurn): void {
    const { turn } = located;
    if (
      this.#thinking.length > 0 &&
      turn.is !== 'result' &&
      turn.is !== 'system' &&
      turn.message.role === 'assistant' &&
      (turn.is === 'calls' || typeof turn.message.content !== 'string' || !isBlank(turn.message.content))
    ) {
      turn.message.thinking = this.#thinking.map(({ text }) => text).join('\n\n');
      this.#thinking = [];
    }
    this.turns.push(located);
  }

  read(item: Fields, where: string): void {
    const { type } = item;
    switch (type) {
      case 'function_call':
      case 'custom_tool_call':
        return this.#call(this.#toCall(item, where, ['type', 'call_id']), where);
      case 'function_call_output':
      case 'custom_tool_call_output':
        this.#rest(item, where, ['type', 'call_id', 'output']);
        return this.#result(item['call_id'], item['output'], `${where}.output`, where);
      case 'reasoning':
        return this.#reason(item, where);
      case undefined:
      case 'message':
        return this.#say(item, where);
      default:
        this.notes.leftOut(where, `Lanefold has no item of the type ${wordOf(type)}.`);
    }
  }

  /** Lists of OpenAI's API are newest first unless they are requested otherwise. @throws LanefoldError `invalid_input` */
  end(): void {
    for (const { where } of this.#thinking) this.notes.leftOut(where, 'No answer follows the reasoning.');
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

  #result(callId: unknown, output: unknown, at: string, where: string, name?: string): void {
    const content = this.#content(output, at);
    this.add({
      turn: { is: 'result', callId: wordOf(callId), ...(name === undefined ? {} : { name }), content },
      where,
    });
  }

  #reason(item: Fields, where: string): void {
    const { summary, encrypted_content: encrypted } = item;
    const parts = (Array.isArray(summary) ? summary : []).map(fieldsOf);
    const texts = parts.map((part) => part['text']).filter(isText);
    this.#thinking.push(...texts.map((text) => ({ text, where })));
    parts.forEach((part, i) =>
      this.notes.rest(part, `${where}.summary[${i}]`, ['type', ...(isText(part['text']) ? ['text'] : [])]),
    );
    this.#rest(item, where, ['type', 'encrypted_content', ...(Array.isArray(summary) ? ['summary'] : [])]);
    if (isText(encrypted)) this.notes.leftOut(`${where}.encrypted_content`, 'Only OpenAI can read it.');
    else if (texts.length === 0) this.notes.leftOut(where, 'The reasoning has no summary.');
  }

  #say(item: Fields, where: string): void {
    const { role, tool_calls: calls } = item;
    const name = isText(item['name']) ? { name: item['name'] } : {};
    const read = ['type', 'role', 'content', ...Object.keys(name)];
    if (role === 'system' || role === 'developer') {
      this.#rest(item, where, ['type', 'role', 'content']);
      this.add({ turn: { is: 'system', text: this.#prompt(item['content'], `${where}.content`) }, where });
    } else if (role === 'tool') {
      this.#rest(item, where, [...read, 'tool_call_id']);
      this.#result(item['tool_call_id'], item['content'], `${where}.content`, where, name.name);
    } else if (role === 'user') {
      this.#rest(item, where, read);
      this.add({
        turn: {
          is: 'message',
          message: { role, content: this.#content(item['content'], `${where}.content`), ...name },
        },
        where,
      });
    } else if (role === 'assistant') this.#answer(item, calls, { read, name }, where);
    else this.notes.leftOut(where, `Lanefold has no message of the role ${wordOf(role)}.`);
  }

  #answer(
    item: Fields,
    calls: unknown,
    { read, name }: { read: string[]; name: { name?: string } },
    where: string,
  ): void {
    const refused = isText(item['refusal']) && (item['content'] ?? '') === '';
    if (refused) this.notes.changed(`${where}.refusal`, 'A refusal became a text.');
    const content = refused ? (item['refusal'] as string) : this.#content(item['content'], `${where}.content`);
    const message = { role: 'assistant' as const, content, ...name };
    const called = Array.isArray(calls) && calls.length > 0;
    this.#rest(item, where, [...read, ...(refused ? ['refusal'] : []), ...(called ? ['tool_calls'] : [])]);
    if (!called) return this.add({ turn: { is: 'message', message }, where });
    const toolCalls = calls.map((call, i) => {
      const at = `${where}.tool_calls[${i}]`;
      const { id, function: fn, custom } = fieldsOf(call);
      const [made, field] = fn === undefined ? [custom, 'custom'] : [fn, 'function'];
      this.notes.rest(call, at, ['id', 'type', field]);
      return this.#toCall({ ...fieldsOf(made), call_id: id }, `${at}.${field}`, ['call_id']);
    });
    this.add({ turn: { is: 'calls', message: { ...message, tool_calls: toolCalls } }, where });
  }

  #toCall(item: Fields, where: string, read: readonly string[]): ToolCall {
    const { call_id: id, name, arguments: given, input } = item;
    const custom = given === undefined && input !== undefined;
    this.#rest(item, where, [...read, ...(isText(name) ? ['name'] : []), custom ? 'input' : 'arguments']);
    return {
      id: isText(id) ? id : 'call',
      name: isText(name) ? name : 'tool',
      ...(custom ? { arguments: { input: input as string } } : argumentsOf(given)),
    };
  }

  /** Every item of the log is complete, so only another status says something. */
  #rest(item: Fields, where: string, read: readonly string[]): void {
    this.notes.rest(item, where, item['status'] === 'completed' ? [...read, 'status'] : read);
  }

  #content(given: unknown, where: string): Message['content'] {
    if (!Array.isArray(given)) return textOf(given);
    return this.notes.content(given.map((part, i) => this.#part(fieldsOf(part), `${where}[${i}]`)));
  }

  #prompt(given: unknown, where: string): string {
    if (!Array.isArray(given)) return textOf(given);
    return this.notes.texts(given.map((part, i) => ({ given: fieldsOf(part), where: `${where}[${i}]` }))).join('\n');
  }

  #part(given: Fields, where: string): ReadPart {
    const { type, image_url: image, detail, file_data: data, file_url: url, filename } = given;
    const { text, refusal } = given;
    switch (type) {
      case 'input_text':
      case 'output_text':
      case 'summary_text':
        return { part: { type: 'text', text: textOf(text) }, where, given, read: ['type', 'text'] };
      case 'refusal':
        this.notes.changed(`${where}.refusal`, 'A refusal became a text.');
        return { part: { type: 'text', text: textOf(refusal) }, where, given, read: ['type', 'refusal'] };
      case 'input_image':
        if (!isText(image)) break;
        return {
          part: { type: 'image_url', image_url: { url: image, detail } },
          where,
          given,
          read: ['type', 'image_url', 'detail'],
        };
      case 'input_file':
        if (isText(data))
          return {
            part: { type: 'file', file: { file_data: data, filename } },
            where,
            given,
            read: ['type', 'file_data', 'filename'],
          };
        if (!isText(url)) break;
        return {
          part: { type: 'file', data: url, mediaType: 'application/octet-stream', filename },
          where,
          given,
          read: ['type', 'file_url', 'filename'],
        };
    }
    return readPart(given, where);
  }
}
