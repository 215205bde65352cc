import { LanefoldError } from '../errors.ts';

/** The most entries of a record in a definition, which every process keeps in memory. */
const mostEntries = 1_000;

/** The error of a definition. @param path of the field, such as `scope.customer` */
export const invalid = (path: string, problem: string): LanefoldError => {
  const field = path.slice(0, 200);
  return new LanefoldError('invalid_input', `The limit is invalid: ${field} ${problem}.`, {
    hint: 'Nothing was written. Correct the field, and set the limit again.',
    details: { field, problem },
  });
};

/** @throws LanefoldError `invalid_input` */
export function assertFew(field: string, entries: object): void {
  if (Object.keys(entries).length > mostEntries) throw invalid(field, `has more than ${mostEntries} entries`);
}
