import type { LanguageModelV4Prompt } from '@ai-sdk/provider';
import { canonicalMessage, ContextHash } from '../../context/canonical.ts';
import type { Message } from '../../context/message.ts';
import { createPromptBuilder } from '../../models/messages/prompt.ts';

/**
 * The context of a run in memory: what the claim returned, then what each commit appended, in the canonical form both
 * would have when read back. Mapping and hash grow with it, so a long run does not start anew at each step.
 */
export class RunContext {
  readonly #builder = createPromptBuilder();
  readonly #hash = new ContextHash();
  readonly #messages: Message[] = [];

  /** @param instructions sent at the end of the system prompt, which they are where there is none; never stored */
  constructor(
    rows: Iterable<Partial<Record<keyof Message, unknown>>>,
    readonly instructions?: string,
  ) {
    for (const row of rows) this.push(row);
  }

  push(raw: Partial<Record<keyof Message, unknown>>): void {
    const message = canonicalMessage(raw);
    this.#messages.push(message);
    if (this.instructions === undefined || this.#messages.length > 1) return this.#send(message);
    if (message.role === 'system' && typeof message.content === 'string') {
      return this.#send({ ...message, content: `${message.content}\n\n${this.instructions}` });
    }
    this.#send({ role: 'system', content: this.instructions });
    this.#send(message);
  }

  #send(message: Message): void {
    this.#builder.push(message);
    this.#hash.push(message);
  }

  /** The messages in canonical form; not to be changed. */
  get messages(): readonly Message[] {
    return this.#messages;
  }

  get prompt(): LanguageModelV4Prompt {
    return this.#builder.prompt;
  }

  /** Hex SHA-256 of what would be sent now. */
  get hash(): string {
    return this.#hash.digest();
  }

  /** The text of the last assistant message. */
  get lastAnswer(): string {
    const content = this.#messages.findLast((message) => message.role === 'assistant')?.content ?? '';
    return typeof content === 'string' ? content : JSON.stringify(content);
  }

  /** The assistant message whose calls are still open: the last one, when the run waits for tools. */
  get openCalls(): NonNullable<Message['tool_calls']> {
    return this.#messages.findLast((message) => message.role === 'assistant')?.tool_calls ?? [];
  }
}
