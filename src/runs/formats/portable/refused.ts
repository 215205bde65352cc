import { LanefoldError } from '../../../base/errors.ts';
import { findFlaw } from '../../../base/checks/text.ts';

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
