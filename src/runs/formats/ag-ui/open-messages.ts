import { reasoningIdOf, type AgUiEvent } from './event.ts';

/**
 * What was sent of an answer does not hold: the provider failed and the model is called again, or what is stored differs
 * from what was streamed. The protocol takes messages back only by a snapshot of the others.
 */
export interface Retraction {
  type: 'RETRACT';
  /** The last entry of the snapshot. */
  lastSeq: number;
  /** Reasoning messages that the snapshot has to empty, because clients keep those that it leaves out. */
  reasoning: string[];
}

interface OpenMessage {
  messageId: string;
  sent: string;
}

/** The reasoning and the text of the current model call, as far as they were sent. */
export class OpenMessages {
  #reasoning: OpenMessage | undefined;
  #text: OpenMessage | undefined;

  *write(part: 'reasoning' | 'text', callId: string, delta: string): Generator<AgUiEvent> {
    if (delta === '') return;
    if (part === 'reasoning') {
      if (!this.#reasoning) {
        const messageId = reasoningIdOf(callId);
        this.#reasoning = { messageId, sent: '' };
        yield { type: 'REASONING_START', messageId };
        yield { type: 'REASONING_MESSAGE_START', messageId, role: 'reasoning' };
      }
      this.#reasoning.sent += delta;
      yield { type: 'REASONING_MESSAGE_CONTENT', messageId: this.#reasoning.messageId, delta };
      return;
    }
    if (!this.#text) {
      this.#text = { messageId: callId, sent: '' };
      yield { type: 'TEXT_MESSAGE_START', messageId: callId, role: 'assistant' };
    }
    this.#text.sent += delta;
    yield { type: 'TEXT_MESSAGE_CONTENT', messageId: this.#text.messageId, delta };
  }

  /** Sends what is missing of an answer, and ends it. */
  *complete(
    callId: string,
    { text, thinking }: { text: string; thinking: string },
    lastSeq: number,
  ): Generator<AgUiEvent | Retraction> {
    const begun = { text: this.#text?.sent ?? '', thinking: this.#reasoning?.sent ?? '' };
    // A strategy may reuse the answer to one of its own questions as its final answer. The log stores that under another id.
    const others = this.#text?.messageId !== callId && this.#reasoning?.messageId !== reasoningIdOf(callId);
    const isOther = others && (this.#text ?? this.#reasoning) !== undefined;
    if (isOther || !text.startsWith(begun.text) || !thinking.startsWith(begun.thinking)) {
      yield* this.takeBack(lastSeq);
      Object.assign(begun, { text: '', thinking: '' });
    }
    yield* this.write('reasoning', callId, thinking.slice(begun.thinking.length));
    yield* this.write('text', callId, text.slice(begun.text.length));
    yield* this.end();
  }

  *takeBack(lastSeq: number): Generator<AgUiEvent | Retraction> {
    const reasoning = this.#reasoning ? [this.#reasoning.messageId] : [];
    const any = this.#text !== undefined || reasoning.length > 0;
    yield* this.end();
    if (any) yield { type: 'RETRACT', lastSeq, reasoning };
  }

  *end(): Generator<AgUiEvent> {
    if (this.#reasoning) {
      const { messageId } = this.#reasoning;
      yield { type: 'REASONING_MESSAGE_END', messageId };
      yield { type: 'REASONING_END', messageId };
    }
    if (this.#text) yield { type: 'TEXT_MESSAGE_END', messageId: this.#text.messageId };
    this.#reasoning = undefined;
    this.#text = undefined;
  }
}
