import { wordOf, findFlaw } from '../../../base/checks/values.ts';
import type { ContentPart, Message } from '../../../agent/context/message.ts';
import { acceptableParts, plainIfOne } from '../mirror/lane-view.ts';
import type { ImportNote } from './line.ts';
import { maxDepth, parseJson } from '../../../base/common/json.ts';
import { LanefoldError } from '../../../base/errors.ts';

export type Fields = Record<string, unknown>;

export const fieldsOf = (value: unknown): Fields => Object(value) as Fields;

export const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

/** A content part as `acceptContent` knows it, made of a value of the source, of which it has what `read` names. */
export interface ReadPart {
  part: unknown;
  where: string;
  given: unknown;
  read: readonly string[];
}

/** Collects what a reader could not carry over. */
export class Notes {
  readonly #notes: ImportNote[] = [];
  /** What no reader reads, by its place without its numbers: the first of these places, and how many there are. */
  readonly #unread = new Map<string, { first: string; count: number }>();

  leftOut(where: string, what: string): void {
    this.#notes.push({ outcome: 'left_out', where, what });
  }

  changed(where: string, what: string): void {
    this.#notes.push({ outcome: 'changed', where, what });
  }

  repaired(where: string, what: string): void {
    this.#notes.push({ outcome: 'repaired', where, what });
  }

  /** Notes what a value of the source says besides the fields that its reader has read. */
  rest(given: unknown, where: string, read: readonly string[]): void {
    for (const [key, value] of Object.entries(fieldsOf(given))) {
      if (read.includes(key) || saysNothing(value)) continue;
      const place = where === '' ? key : `${where}.${key}`;
      const kind = place.replace(/\[\d+\]/g, '[]');
      const unread = this.#unread.get(kind) ?? { first: place, count: 0 };
      unread.count += 1;
      this.#unread.set(kind, unread);
    }
  }

  /** Content parts that models accept; any other becomes a text that names its type. */
  content(parts: readonly ReadPart[]): Message['content'] {
    return plainIfOne(
      parts.map(({ part, where, given, read }): ContentPart => {
        const [accepted] = acceptableParts([part]);
        const { type, text } = fieldsOf(part);
        if (accepted!.type === 'text' && (type !== 'text' || fieldsOf(accepted)['text'] !== text))
          this.changed(
            where,
            `A part of the type ${wordOf(type)} became the text ${wordOf((accepted as Fields)['text'])}.`,
          );
        else this.rest(given, where, read);
        return accepted!;
      }),
    );
  }

  /** The texts of parts of a prompt, which has nothing else. */
  texts(parts: readonly { given: Fields; where: string }[]): string[] {
    return parts.flatMap(({ given, where }) => {
      if (typeof given['text'] === 'string') {
        this.rest(given, where, ['type', 'text']);
        return given['text'];
      }
      this.leftOut(where, 'A prompt has no part but texts.');
      return [];
    });
  }

  /** In the order in which they were made; fields that many places have are one note. */
  list(): ImportNote[] {
    const unread = [...this.#unread].map(([kind, { first, count }]): ImportNote => {
      if (count === 1) return { outcome: 'left_out', where: first, what: 'Lanefold has no such field.' };
      return {
        outcome: 'left_out',
        where: kind,
        what: `Lanefold has no such field: ${count} times, first ${first}.`,
      };
    });
    return [...this.#notes, ...unread];
  }
}

/** A part in one of the forms that `acceptContent` knows, or of an unknown type. */
export function readPart(given: Fields, where: string): ReadPart {
  const { type, text } = given;
  const all = Object.keys(given);
  if (type === 'text') return { part: { ...given, text: textOf(text) }, where, given, read: all };
  const read = type === 'image_url' ? ['type', 'image_url'] : ['type', 'image', 'file', 'data', 'url', ...ofFiles];
  return { part: given, where, given, read };
}

const ofFiles = ['media_type', 'mediaType', 'filename', 'providerOptions', 'provider_metadata'];

/** A value that is nested deeper, or contains itself, says something. */
const saysNothing = (value: unknown, levels = maxDepth): boolean =>
  value == null ||
  value === '' ||
  (typeof value === 'object' && levels > 0 && Object.values(value).every((each) => saysNothing(each, levels - 1)));

/** A text of the source as it is; any other value as JSON. */
export const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : value == null ? '' : JSON.stringify(value);

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

/** An export that is not as it was written. `line` counts from 1. */
export const refusedAt = (line: number, problem: string, facts: Record<string, unknown> = {}): LanefoldError =>
  new LanefoldError('import_refused', `Line ${line} ${problem}`, {
    hint: 'Nothing was imported. Export the thread again, and pass the file on unchanged.',
    details: { line, ...facts },
  });

/** A history of another framework that has another form than expected. */
export const notA = (what: string, problem: string): LanefoldError =>
  new LanefoldError('invalid_input', `This is not ${what}: ${problem}`, { hint: 'Nothing was imported.' });

/** @throws LanefoldError `invalid_input` if a part of a history cannot be stored. `where` it is, such as `items[3]` */
export function assertPlain(value: unknown, where: string): void {
  // the texts of other frameworks are cleaned instead
  const flaw = findFlaw(value, { texts: false });
  if (flaw === undefined) return;
  throw new LanefoldError(
    'invalid_input',
    `The history cannot be imported: ${where} contains ${flaw.what} at ${flaw.path}.`,
    {
      hint: 'Nothing was imported.',
      details: { where },
    },
  );
}

/** An import has to fit into one jsonb value, which is limited to 256 MiB. */
export const maxImportChars = 128 * 1024 * 1024;

export const tooLarge = (): LanefoldError =>
  new LanefoldError('import_refused', `The thread has more than ${maxImportChars} characters.`, {
    hint: 'Nothing was imported. Fork the thread at its last entry, which copies its contexts without the log, and export the fork.',
  });
