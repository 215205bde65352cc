import type { LanguageModelV4Prompt } from '@ai-sdk/provider';
import { canonicalMessage, ContextHash } from '../../context/canonical.ts';
import { withInstructions } from '../../context/instructed.ts';
import type { Json, JsonObject, Message } from '../../context/message.ts';
import { createPromptBuilder } from '../../models/messages/prompt.ts';
import type { PlacedMessage } from '../../policy/groups.ts';
import { place } from '../../policy/place.ts';

/** A message as a claim or a commit returns it. Without a `seq` it is not a log entry, as in a transformed request. */
type Row = Partial<Record<keyof Message, unknown>> & { seq?: number; refs?: Json };

/**
 * The context of a run in memory: what the claim returned, then what each commit appended, in the canonical form both
 * would have when read back. Prompt and hash grow incrementally, so a step costs the same in a long run.
 */
export class RunContext {
  readonly #builder = createPromptBuilder();
  readonly #hash = new ContextHash();
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
    const first = this.instructions !== undefined && this.#messages.length === 1;
    for (const sent of first ? withInstructions(message, this.instructions!) : [message]) this.#send(sent);
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

  #send(message: Message): void {
    this.#builder.push(message);
    this.#hash.push(message);
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

  get prompt(): LanguageModelV4Prompt {
    return this.#builder.prompt;
  }

  /** Hex SHA-256 of the messages as they would be sent now. */
  get hash(): string {
    return this.#hash.digest();
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
