import { camelKeys } from '../../../base/common/case.ts';
import type { RunMark } from '../trace/types.ts';
import type { Database } from '../../postgres/pool.ts';

/** Some runs of a thread. */
interface RunsOf {
  threadId: string;
  runIds: readonly string[];
}

/** The marks of some runs of a thread in the order of its log, and of `runIds` for those that concern a whole run. */
export async function readMarks(db: Database, { threadId, runIds }: RunsOf): Promise<RunMark[]> {
  const rows = await db.query(
    'run_marks',
    `select run_id, kind, seq::float8, llm_call_id, data from lanefold.run_marks($1, $2)
     order by seq nulls last, array_position($2, run_id), kind`,
    [threadId, runIds],
  );
  return rows.map(toMark);
}

const toMark = (row: object): RunMark => camelKeys(row) as unknown as RunMark;
