import { breakFunctions } from '../../mutants/change.ts';
import { rows, type TestLog } from '../../db/helpers.ts';
import type { Mutant } from './mutants.ts';

/** Breaks the functions of a database as a mutant says. */
export async function change({ db, pool }: TestLog, { sql = {}, withoutIndexes = [] }: Mutant): Promise<void> {
  for (const index of withoutIndexes) await rows(db, `drop index lanefold.${index}`);
  await breakFunctions((text, values) => pool.query(text, values), sql);
}
