import type { LanguageModelV4Prompt } from '@ai-sdk/provider';
import { canonicalMessage, ContextHash } from '../../context/canonical.ts';
import { withInstructions } from '../../context/instructed.ts';
import type { Message } from '../../context/message.ts';
import { createPromptBuilder } from '../../models/messages/prompt.ts';

/**
 * The context of a run in memory: what the claim returned, then what each commit appended, in the canonical form both
 * would have when read back. Prompt and hash grow incrementally, so a step costs the same in a long run.
 */
export class RunContext {
  readonly #builder = createPromptBuilder();
  readonly #hash = new ContextHash();
  readonly #messages: Message[] = [];

  /** @param instructions appended to the system prompt, or sent as the prompt where there is none; never stored */
  constructor(
    rows: Iterable<Partial<Record<keyof Message, unknown>>>,
    readonly instructions?: string,
  ) {
    for (const row of rows) this.push(row);
  }

  push(raw: Partial<Record<keyof Message, unknown>>): void {
    const message = canonicalMessage(raw);
    this.#messages.push(message);
    const first = this.instructions !== undefined && this.#messages.length === 1;
    for (const sent of first ? withInstructions(message, this.instructions!) : [message]) this.#send(sent);
  }

  #send(message: Message): void {
    this.#builder.push(message);
    this.#hash.push(message);
  }

  /** The messages in canonical form; do not modify. */
  get messages(): readonly Message[] {
    return this.#messages;
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

  /** The calls of the last assistant message: the open ones, while the run waits for tools. */
  get openCalls(): NonNullable<Message['tool_calls']> {
    return this.#messages.findLast((message) => message.role === 'assistant')?.tool_calls ?? [];
  }
}
