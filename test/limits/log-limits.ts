import type { LimitAnswer, LimitCall, ReadyRun } from '../../src/database/store/limit/use-limits.ts';
import { rows, value, type TestLog } from '../db/helpers.ts';

/** The functions of limits on the database of a test. */
export const limitsOf = (log: TestLog) => {
  const use = async (...calls: LimitCall[]): Promise<LimitAnswer[]> => {
    const text = 'select u.result from lanefold.use_limits($1) u';
    const answers = await rows<{ result: LimitAnswer }>(log.db, text, JSON.stringify(calls));
    return answers.map(({ result }) => result);
  };
  /** As a process does: checks what these answers name, and what those of the checks do. Returns the runs that are next. */
  const next = async (answers: readonly LimitAnswer[]): Promise<ReadyRun[]> => {
    const check = Object.keys(answers[0]?.look ?? {});
    const [checked] = check.length > 0 ? await use({ check }) : [];
    return [...(answers[0]?.ready ?? []), ...(checked?.ready ?? [])];
  };
  return {
    ...functionsOf(log),
    use,
    next,
    /** The same, and grants each of them. Returns those that were granted, with their answers. */
    async resume(answers: readonly LimitAnswer[]): Promise<(ReadyRun & { answer: LimitAnswer })[]> {
      const resumed: (ReadyRun & { answer: LimitAnswer })[] = [];
      for (let ready = await next(answers); ready.length > 0;) {
        const calls = ready.map(({ place, thread_id, run_id }) => ({ thread_id, run_id, granted: place }));
        const granted = await use(...calls);
        const ok = ready.flatMap((one, i) =>
          granted[i]!.late || granted[i]!.refused ? [] : { ...one, answer: granted[i]! },
        );
        resumed.push(...ok);
        if (ok.length === 0) break;
        ready = await next(granted);
      }
      return resumed;
    },
  };
};

const functionsOf = (log: TestLog) => ({
  /** Sets a limit of the operator. Returns its version. */
  set: (name: string, limit: object) =>
    value<number>(
      log.db,
      'select lanefold.set_limit($1, $2, $3)::int',
      '*',
      name,
      JSON.stringify({ scope: {}, by: 'test', ...limit }),
    ),
});
