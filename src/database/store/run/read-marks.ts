import { camelKeys } from '../../../base/common/case.ts';
import type { RunMark, RunMarkCount } from '../trace/types.ts';
import type { Database } from '../../postgres/pool.ts';
import { overThreads } from '../each-thread.ts';

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

/** The marks of each row of a list, counted by kind, in one statement; on a distributed database, in one per thread. */
export async function countMarks(db: Database, rows: readonly RunsOf[]): Promise<RunMarkCount[][]> {
  const places = rows.map((row, place) => ({ ...row, place }));
  const found = await overThreads(db, places, {
    together: () => listMarks(db, places),
    one: async ({ place, ...row }) => (await readMarks(db, row)).map((mark) => ({ place, mark })),
  });
  const marksOf = rows.map((): RunMark[] => []);
  for (const { place, mark } of found) marksOf[place]!.push(mark);
  return marksOf.map(counted);
}

async function listMarks(
  db: Database,
  places: readonly (RunsOf & { place: number })[],
): Promise<{ place: number; mark: RunMark }[]> {
  if (places.length === 0) return [];
  const rows = await db.query<Record<string, unknown> & { place: number }>(
    'list_marks',
    `select k.place, m.run_id, m.kind, m.seq::float8, m.llm_call_id
     from jsonb_to_recordset($1) as k (place int, thread_id text, run_ids text[])
     cross join lateral lanefold.run_marks(k.thread_id, k.run_ids) m order by k.place, m.seq nulls last, array_position(k.run_ids, m.run_id), m.kind`,
    [JSON.stringify(places.map(({ place, threadId, runIds }) => ({ place, thread_id: threadId, run_ids: runIds })))],
  );
  return rows.map(({ place, ...mark }) => ({ place, mark: toMark(mark) }));
}

const toMark = (row: object): RunMark => camelKeys(row) as unknown as RunMark;

function counted(marks: readonly RunMark[]): RunMarkCount[] {
  const counts = new Map<string, RunMarkCount>();
  /** The first run with each mark: a change of the whole thread is marked at each lane's next run, but counts once. */
  const seen = new Map<string, string>();
  for (const { runId, kind, seq, llmCallId } of marks) {
    const place = `${kind}/${seq}`;
    if (seq !== null && (seen.get(place) ?? runId) !== runId) continue;
    seen.set(place, runId);
    const known = counts.get(kind);
    if (known) known.count += 1;
    else counts.set(kind, { runId, kind, seq, llmCallId, count: 1 });
  }
  return [...counts.values()];
}
