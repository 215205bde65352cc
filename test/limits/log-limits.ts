import type { LimitAnswer, LimitCall } from '../../src/store/limit/use-limits.ts';
import { rows, value, type TestLog } from '../db/helpers.ts';

/** The functions of limits on the database of a test. */
export const limitsOf = (log: TestLog) => ({
  /** Sets a limit of the operator. Returns its version. */
  set: (name: string, limit: object) =>
    value<number>(
      log.db,
      'select lanefold.set_limit($1, $2, $3)::int',
      '*',
      name,
      JSON.stringify({ scope: {}, by: 'test', ...limit }),
    ),
  use: async (...calls: LimitCall[]): Promise<LimitAnswer[]> => {
    const text = 'select u.result from lanefold.use_limits($1) u';
    const answers = await rows<{ result: LimitAnswer }>(log.db, text, JSON.stringify(calls));
    return answers.map(({ result }) => result);
  },
});
