import { readFileSync } from 'node:fs';
import { errorStatus, type ErrorCode } from '../../../src/base/errors.ts';
import { parse } from 'yaml';
import { code, table } from './markdown.ts';

/** What a code means, and what to do. */
export interface ErrorText {
  means: string;
  do: string;
}

interface ErrorTexts {
  codes: { title: string; intro?: string; errors: Record<string, ErrorText> }[];
  /** Types of errors that only runs have. */
  failed: Record<string, string>;
}

/** The one place of the texts; see its head. */
export const errorTexts = parse(readFileSync('docs/reference/errors.yaml', 'utf8')) as ErrorTexts;

/** The texts of each code. Throws if a code has none, or a text no code. */
export function textsByCode(): Map<ErrorCode, ErrorText> {
  const texts = new Map(errorTexts.codes.flatMap(({ errors }) => Object.entries(errors)));
  const missing = Object.keys(errorStatus).filter((known) => !texts.has(known));
  const strange = [...texts.keys()].filter((known) => !(known in errorStatus));
  if (missing.length + strange.length > 0)
    throw new Error(
      `docs/reference/errors.yaml lacks ${missing.join(', ') || 'no code'}, and has ${strange.join(', ') || 'no other'}.`,
    );
  return texts as Map<ErrorCode, ErrorText>;
}

/** The parts of docs/reference/errors.md. */
export function errorParts(): Record<string, string> {
  textsByCode();
  const groups = errorTexts.codes.map(({ title, intro, errors }) => {
    const rows = Object.entries(errors).map(([name, text]) => [
      code(name),
      String(errorStatus[name as ErrorCode]),
      text.means,
      text.do,
    ]);
    return [`## ${title}`, intro, table(['code', 'status', 'meaning', 'what to do'], rows)]
      .filter(Boolean)
      .join('\n\n');
  });
  const failed = Object.entries(errorTexts.failed).map(([type, means]) => [code(type), means]);
  return { codes: groups.join('\n\n'), failed: table(['type', 'meaning'], failed) };
}
