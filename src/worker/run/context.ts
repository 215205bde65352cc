import type { LanguageModelV4Prompt } from '@ai-sdk/provider';
import { canonicalMessage, ContextHash } from '../../agent/context/canonical.ts';
import {
  withInstructions,
  type Json,
  type JsonObject,
  type Message,
  isText,
  textOf,
} from '../../agent/context/message.ts';
import { createPromptBuilder, type PromptBuilder } from '../../agent/models/prompt.ts';
import type { SentAs, Dialect } from '../../agent/models/acceptable-prompt.ts';
import { type PlacedMessage, place } from '../../agent/policy/groups.ts';
import type { Claim } from '../../database/store/run/claim-run.ts';
import type { MarkedMessage, RunQuestion } from '../../agent/strategies/machine.ts';

/** A message as a claim or a commit returns it. Without a `seq` it is not a log entry, as in a transformed request. */
type Row = Partial<Record<keyof Message, unknown>> & { seq?: number; refs?: Json };

/** A request that grows with its context. */
interface Request {
  builder: PromptBuilder;
  hash: ContextHash;
}

/**
 * The context of a run in memory: what the claim returned, then what each commit appended, in the canonical form both
 * would have when read back. Prompt and hash grow incrementally, so a step costs the same in a long run.
 */
export class RunContext {
  readonly #requests = new Map<Dialect, Request>();
  readonly #messages: Message[] = [];
  readonly #placed: PlacedMessage[] = [];
  #answerRefs: JsonObject | null = null;

  /** @param instructions appended to the system prompt, or sent as the prompt where there is none; never stored */
  constructor(
    rows: Iterable<Row>,
    readonly instructions?: string,
  ) {
    for (const row of rows) this.push(row);
  }

  push(raw: Row): void {
    const message = canonicalMessage(raw);
    this.#messages.push(message);
    this.#placed.push(place(this.#placed.at(-1), message, raw.seq ?? -1, raw.refs));
    if (message.role === 'assistant') this.#answerRefs = (raw.refs ?? null) as JsonObject | null;
    for (const request of this.#requests.values()) this.#send(request, message, this.#messages.length === 1);
  }

  /** A copy of this context with one more message, which is not a log entry. */
  followedBy(message: Message): RunContext {
    const copy = new RunContext([], this.instructions);
    for (const { message: own, seq, mark } of this.#placed) {
      copy.push({ ...own, seq, ...(mark ? { refs: { kind: mark, durable: true } } : {}) });
    }
    copy.push({ ...message });
    return copy;
  }

  #send({ builder, hash }: Request, message: Message, first: boolean): void {
    const given = first && this.instructions !== undefined ? withInstructions(message, this.instructions) : [message];
    for (const own of given) for (const sent of builder.push(own)) hash.push(sent);
  }

  /** The messages in canonical form; do not modify. */
  get messages(): readonly Message[] {
    return this.#messages;
  }

  /** The messages with their places in the log; do not modify. */
  get placed(): readonly PlacedMessage[] {
    return this.#placed;
  }

  /** The `refs` of the last answer, as far as a claim returns them. */
  get answerRefs(): JsonObject | null {
    return this.#answerRefs;
  }

  /** The messages as a provider gets them now, and the hex SHA-256 of these; see `PromptBuilder.sentAs`. */
  requestIn(dialect: Dialect): { prompt: LanguageModelV4Prompt; hash: string; sentAs: SentAs | undefined } {
    let request = this.#requests.get(dialect);
    if (!request) {
      request = { builder: createPromptBuilder(dialect), hash: new ContextHash() };
      this.#requests.set(dialect, request);
      for (const [i, message] of this.#messages.entries()) this.#send(request, message, i === 0);
    }
    const { builder, hash } = request;
    return { prompt: builder.prompt, hash: hash.digest(), sentAs: builder.sentAs };
  }

  /** The text of the last assistant message. */
  get lastAnswer(): string {
    const content = this.#messages.findLast((message) => message.role === 'assistant')?.content ?? '';
    return typeof content === 'string' ? content : JSON.stringify(content);
  }

  /** The tool calls of the last assistant message; while the run waits for tools, these are open. */
  get openCalls(): NonNullable<Message['tool_calls']> {
    return this.#messages.findLast((message) => message.role === 'assistant')?.tool_calls ?? [];
  }
}

/** The run's user message, and the lane before it. */
export function questionOf({ context, user_seq: userSeq }: Claim): RunQuestion {
  // a run that answers its lane as it is has no message of its own
  const isQuestion = (row: Claim['context'][number]) =>
    row.role === 'user' && (userSeq === null || row.seq === userSeq);
  const at = userSeq === null ? context.findLastIndex(isQuestion) : context.findIndex(isQuestion);
  const content = context[at]?.content ?? '';
  const system = context.find((row) => row.role === 'system')?.content;
  const before = context.slice(0, Math.max(at, 0)).filter((row) => row.role !== 'system');
  return {
    text: textOf(content),
    parts: typeof content === 'string' ? [] : content.filter((part) => !isText(part)),
    system: typeof system === 'string' ? system : null,
    history: before.map(marked),
  };
}

/** The message with the `refs` that context policies read; the recorded cuts of other calls do not apply here. */
function marked({ refs, ...row }: Claim['context'][number]): MarkedMessage {
  const { kind, durable } = refs ?? {};
  const message = canonicalMessage(row);
  return kind === undefined ? message : { ...message, refs: { kind, ...(durable === undefined ? {} : { durable }) } };
}
