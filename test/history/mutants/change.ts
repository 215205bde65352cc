import { expect } from 'vitest';
import { rows, value, type TestLog } from '../../db/helpers.ts';
import type { Mutant } from './mutants.ts';

/** Breaks the functions of a database as a mutant says. */
export async function change({ db }: TestLog, { sql = {}, withoutIndexes = [] }: Mutant): Promise<void> {
  for (const index of withoutIndexes) await rows(db, `drop index lanefold.${index}`);
  for (const [name, replacements] of Object.entries(sql)) {
    let body = await value<string>(
      db,
      'select pg_get_functiondef(p.oid) from pg_proc p where p.pronamespace = $1::regnamespace and p.proname = $2',
      'lanefold',
      name,
    );
    for (const [text, broken] of replacements) {
      expect(body.split(text), `${name} has the text once`).toHaveLength(2);
      body = body.replace(text, () => broken);
    }
    await rows(db, body);
  }
}
