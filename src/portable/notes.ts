import type { ContentPart, Message } from '../context/message.ts';
import { acceptableParts, plainIfOne } from '../mirror/content.ts';
import type { ImportNote } from './portable-thread.ts';
import { maxDepth, parseJson } from '../common/json.ts';

export type Fields = Record<string, unknown>;

export const fieldsOf = (value: unknown): Fields => Object(value) as Fields;

export const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

/** Collects what a reader could not carry over. */
export class Notes {
  readonly all: ImportNote[] = [];

  leftOut(where: string, what: string): void {
    this.all.push({ outcome: 'left_out', where, what });
  }

  changed(where: string, what: string): void {
    this.all.push({ outcome: 'changed', where, what });
  }

  repaired(where: string, what: string): void {
    this.all.push({ outcome: 'repaired', where, what });
  }

  /** Content parts that models accept; any other becomes a text that names its type. */
  content(parts: readonly { part: unknown; where: string }[]): Message['content'] {
    return plainIfOne(
      parts.map(({ part, where }): ContentPart => {
        const [accepted] = acceptableParts([part]);
        const type = fieldsOf(part)['type'];
        if (accepted!.type !== type && accepted!.type === 'text')
          this.changed(
            where,
            `A part of the type ${String(type)} became the text ${String((accepted as Fields)['text'])}.`,
          );
        return accepted!;
      }),
    );
  }
}

/** Reads the arguments of a call, and keeps the text of the provider. */
export function argumentsOf(given: unknown): { arguments: never; arguments_raw?: string } {
  if (typeof given !== 'string') return { arguments: (given ?? {}) as never };
  try {
    return { arguments: parseJson(given, maxDepth) as never, arguments_raw: given };
  } catch {
    return { arguments: {} as never, arguments_raw: given };
  }
}

/** A failed or denied call, in the form in which models read it. */
export const errorResult = (type: 'tool_error' | 'denied', message: string): string =>
  JSON.stringify({ ok: false, error: { type, message, retryable: false } });
