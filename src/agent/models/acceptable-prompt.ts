import { createHash } from 'node:crypto';
import { isBlankToProviders } from '../../base/checks/values.ts';
import type { JsonObject, Message, ToolCall } from '../context/message.ts';
import type { LanguageModelV4 } from '@ai-sdk/provider';

/** How the messages of a call differ from the log's messages: for which provider, and how many of each kind. */
export interface SentAs {
  for: DialectName;
  /** Calls with another id; their results have it too. */
  ids?: number;
  /** Calls with another name. */
  names?: number;
  /** Answers and prompts without text, which are left out. */
  left_out?: number;
  /** Results and user messages without text, which get one. */
  filled?: number;
  /** A user message was put before the first message. */
  opened?: 1;
  /** System messages after the beginning, sent as user messages. */
  as_user?: number;
}

type Change = Exclude<keyof SentAs, 'for'>;

const opening = '(The conversation continues.)';
const noOutput = '(no output)';
const noText = '(no text)';

/**
 * Makes of the messages of a call, one after the other, what a provider accepts. Pure: the messages so far decide, so
 * that every worker sends the same, and a longer history begins like a shorter one. A message that needs no change is
 * passed on as it is.
 *
 * `lanefold._acceptable` does the same in SQL; `lanefold.call_context` returns its result.
 */
export class Acceptable {
  readonly #dialect: Dialect;
  readonly #taken = new Set<string>();
  /** How often each replaced id was replaced. */
  readonly #replaced = new Map<string, number>();
  /** The calls by their id, as they were written and as they are sent, in an answer where these differ; the next one last. */
  #open = new Map<string, { written: ToolCall; sent: ToolCall }[]>();
  #begun = false;
  readonly #changes = new Map<Change, number>();

  constructor(dialect: Dialect) {
    this.#dialect = dialect;
  }

  /** What is sent of the next message: usually itself, nothing, or a message before it too. */
  push(message: Message): Message[] {
    if (this.#dialect.name === 'verbatim') return [message];
    const sent = this.#sent(message);
    if (sent === undefined) return [];
    if (this.#begun || sent.role === 'system') return [sent];
    this.#begun = true;
    if (sent.role === 'user' || !this.#dialect.userFirst) return [sent];
    this.#count('opened');
    return [{ role: 'user', content: opening }, sent];
  }

  /** Undefined while the messages are sent as they are. */
  get sentAs(): SentAs | undefined {
    if (this.#changes.size === 0) return undefined;
    return { for: this.#dialect.name, ...Object.fromEntries(this.#changes) };
  }

  #count(change: Change): void {
    this.#changes.set(change, (this.#changes.get(change) ?? 0) + 1);
  }

  #sent(message: Message): Message | undefined {
    if (message.role === 'assistant') return this.#answer(message);
    if (message.role === 'tool') return this.#result(message);
    const blank = saysNothing(message.content);
    if (message.role === 'user') return blank ? this.#filled(message, noText) : message;
    if (blank) return void this.#count('left_out');
    if (!this.#begun || !this.#dialect.systemFirst) return message;
    this.#count('as_user');
    return { ...message, role: 'user' };
  }

  #answer(message: Message): Message | undefined {
    const calls = message.tool_calls ?? [];
    this.#open = new Map();
    if (calls.length === 0) return saysNothing(message.content) ? void this.#count('left_out') : message;
    if (!this.#dialect.idsOnce) this.#taken.clear();
    const sent = calls.map((call) => this.#call(call));
    if (calls.every((call, i) => call === sent[i])) return message;
    for (let i = calls.length - 1; i >= 0; i--) {
      const written = calls[i]!;
      const same = this.#open.get(written.id) ?? [];
      this.#open.set(written.id, same);
      same.push({ written, sent: sent[i]! });
    }
    return { ...message, tool_calls: sent };
  }

  #call(call: ToolCall): ToolCall {
    const id = this.#id(call.id);
    const name = this.#dialect.names.test(call.name) ? call.name : acceptableName(call.name);
    if (id === call.id && name === call.name) return call;
    if (id !== call.id) this.#count('ids');
    if (name !== call.name) this.#count('names');
    return { ...call, id, name };
  }

  #id(written: string): string {
    const { ids, idPrefix, idLength } = this.#dialect;
    let id = written;
    if (!ids.test(id) || this.#taken.has(id)) {
      let n = this.#replaced.get(written) ?? 0;
      do id = (idPrefix + sha256(`${written}\n${n++}`)).slice(0, idLength);
      while (this.#taken.has(id));
      this.#replaced.set(written, n);
    }
    this.#taken.add(id);
    return id;
  }

  #result(message: Message): Message {
    const result = this.#open.size > 0 ? this.#renamed(message) : message;
    return saysNothing(message.content) ? this.#filled(result, noOutput) : result;
  }

  /** A result answers the first call with its id that has no result yet. */
  #renamed(message: Message): Message {
    const call = this.#open.get(message.tool_call_id ?? '')?.pop();
    if (!call) return message;
    const { written, sent } = call;
    return { ...message, tool_call_id: sent.id, ...(message.name === written.name && { name: sent.name }) };
  }

  #filled(message: Message, content: string): Message {
    this.#count('filled');
    return { ...message, content };
  }
}

/** The messages that a provider accepts in place of these, and how they differ. */
export function acceptable(messages: Iterable<Message>, dialect: Dialect): { messages: Message[]; sentAs?: SentAs } {
  const form = new Acceptable(dialect);
  const sent: Message[] = [];
  for (const message of messages) sent.push(...form.push(message));
  return { messages: sent, ...(form.sentAs ? { sentAs: form.sentAs } : {}) };
}

/** Messages of the log as a call sent them that recorded `sent_as` in the refs of its answer. */
export function asRecorded(messages: Message[], refs: JsonObject): Message[] {
  const { for: name } = (refs['sent_as'] ?? {}) as { for?: DialectName };
  return name === undefined ? messages : acceptable(messages, dialects[name]).messages;
}

/** Whether a content has neither a file nor a text that is more than white space. */
export function saysNothing(content: Message['content']): boolean {
  if (typeof content === 'string') return isBlankToProviders(content);
  return content.every(({ type, text }: { type: string; text?: unknown }) => {
    return type === 'text' && typeof text === 'string' && isBlankToProviders(text);
  });
}

/** A readable name that every provider accepts. Its end keeps it apart from the names of tools and of other inventions. */
export function acceptableName(written: string): string {
  const slug = written.replaceAll(/[^A-Za-z0-9_-]+/gu, '_').slice(0, 50);
  return `${/^[A-Za-z_]/.test(slug) ? '' : '_'}${slug}_${sha256(written).slice(0, 6)}`;
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** What the API of a provider accepts in a history. docs/reference/providers.md says who refuses what. */
export interface Dialect {
  name: DialectName;
  /** Ids of tool calls that it accepts. */
  ids: RegExp;
  /** An id may be used once in a conversation; otherwise, once in an answer. */
  idsOnce: boolean;
  /** Length and beginning of the ids that replace others. */
  idPrefix: string;
  idLength: number;
  /** Names of called tools that it accepts. */
  names: RegExp;
  /** The conversation must begin with a user message. */
  userFirst: boolean;
  /** System messages may stand only at the beginning. */
  systemFirst: boolean;
}

export type DialectName = 'openai' | 'responses' | 'kimi' | 'mistral' | 'anthropic' | 'google' | 'verbatim';

/** What every provider but Mistral accepts: the characters of Anthropic, and the 40 of OpenAI's chat completions. */
const common = {
  ids: /^[A-Za-z0-9_-]{1,40}$/,
  idsOnce: false,
  idPrefix: 'call_',
  idLength: 29,
  names: /^[A-Za-z0-9_-]{1,64}$/,
  userFirst: false,
  systemFirst: false,
};

export const dialects: Record<DialectName, Dialect> = {
  // chat completions, and every provider that is not known
  openai: { ...common, name: 'openai' },
  responses: { ...common, name: 'responses', idsOnce: true },
  // its models call tools wrongly if earlier ids are not in their own format, as in functions.look:0
  kimi: { ...common, name: 'kimi', ids: /^[A-Za-z0-9_.:-]{1,64}$/ },
  mistral: {
    ...common,
    name: 'mistral',
    ids: /^[A-Za-z0-9]{9}$/,
    idsOnce: true,
    idPrefix: '',
    idLength: 9,
    userFirst: true,
  },
  anthropic: { ...common, name: 'anthropic', idsOnce: true, userFirst: true },
  google: {
    ...common,
    name: 'google',
    names: /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/,
    idsOnce: true,
    userFirst: true,
    systemFirst: true,
  },
  // models of this process that refuse nothing
  verbatim: { ...common, name: 'verbatim' },
};

/**
 * The dialect of a model. Gateways and servers of open models are told apart by the name of the model.
 *
 * @param model `provider` is the AI SDK's name, such as `anthropic.messages`
 */
export function dialectOf({ provider, modelId }: Pick<LanguageModelV4, 'provider' | 'modelId'>): Dialect {
  if (provider === 'scripted' || provider === 'replay') return dialects.verbatim;
  const names = `${provider} ${modelId}`;
  for (const [name, pattern] of families) if (pattern.test(names)) return dialects[name];
  return dialects.openai;
}

const families: [DialectName, RegExp][] = [
  ['responses', /^\S+\.responses /],
  ['anthropic', /anthropic|bedrock|claude/i],
  ['google', /google|vertex|gemini/i],
  ['mistral', /(mi|minis|magis)tral|mixtral|pixtral|codestral|devstral/i],
  ['kimi', /kimi|moonshot/i],
];
