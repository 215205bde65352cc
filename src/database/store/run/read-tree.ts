import type { RunCost, TreeRun } from './types.ts';
import type { Database } from '../../postgres/pool.ts';
import { readRef, toWaits } from './read-run.ts';
import { findRoot } from '../wait/child-runs.ts';
import type { Run } from './run.ts';
import { readRows } from '../rows.ts';

/** A run of a tree, without its cost. */
type TreeRow = Omit<TreeRun, keyof RunCost>;

const columns = (parent: string, depth: string) => `
  r.thread_id, r.id, r.agent, r.model, r.context_ref, r.status, r.termination_reason,
  r.iteration, r.error, ${depth} as depth, ${parent} as parent, r.usage, r.other_usage, r.created_at,
  r.started_at, r.finished_at, w.waits`;

const waits = (run: string) => `left join lateral (
    select json_agg(json_build_object('call', w.round || '.' || w.call_index, 'round', w.round, 'index', w.call_index, 'name', c.name, 'kind', w.kind, 'event', w.event,
      'run', case when w.child_run_id is not null then json_build_object('thread_id', w.child_thread_id, 'id', w.child_run_id) end,
      'since', w.created_at, 'until', w.until) order by w.round, w.call_index) as waits
    from lanefold._wait w
    join lanefold._tool_call c on c.thread_id = w.thread_id and c.run_id = w.run_id and c.round = w.round and c.call_index = w.call_index
    where w.thread_id = ${run}.thread_id and w.run_id = ${run}.id and w.status = 'open') w on true`;

/** The runs of the tree that a run belongs to: each followed by the runs that it started, in order of time; empty if the run does not exist. */
export async function readTree(
  db: Database,
  threadId: string,
  id: string,
): Promise<(TreeRow & Pick<Run, 'otherUsage'>)[]> {
  const root = await findRoot(db, { threadId, id });
  const [first] = await readRows<Row>(
    db,
    'read_root',
    `select ${columns('null::json', '0')} from lanefold._run r ${waits('r')} where r.thread_id = $1 and r.id = $2`,
    [root.threadId, root.id],
  );
  const children = await readRows<Row>(
    db,
    'read_descendants',
    `select ${columns(
      `json_build_object('thread_id', k.parent_thread_id, 'id', k.parent_run_id, 'call', k.parent_round || '.' || k.parent_index, 'round', k.parent_round, 'index', k.parent_index)`,
      'k.depth',
    )}
     from lanefold._child_run k
     join lanefold._run r on r.thread_id = k.thread_id and r.id = k.run_id ${waits('r')}
     where k.root_thread_id = $1 and k.root_run_id = $2
     order by k.depth, r.created_at, r.id`,
    [root.threadId, root.id],
  );
  const childrenOf = new Map<string, Row[]>();
  for (const row of children) childrenOf.set(row.parent!.id, [...(childrenOf.get(row.parent!.id) ?? []), row]);
  const below = (row: Row): Row[] => [row, ...(childrenOf.get(row.id) ?? []).flatMap(below)];
  return (first ? below(first) : []).map((row) => ({ ...row, parent: readRef(row.parent), waits: toWaits(row.waits) }));
}

type Row = Omit<TreeRow, 'parent' | 'waits'> &
  Pick<Run, 'otherUsage'> & { parent: { id: string } | null; waits: object[] | null };
