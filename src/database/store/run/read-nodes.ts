import type { RunNode } from '../nodes/types.ts';
import type { Database } from '../../postgres/pool.ts';
import { changedNode, type StrategyNode } from '../../../agent/strategies/records.ts';
import { readRows } from '../rows.ts';

/** The nodes of a run in order, after a node. */
export async function readNodes(
  db: Database,
  threadId: string,
  runId: string,
  { after, limit }: { after: number; limit: number },
): Promise<RunNode[]> {
  return readRows<RunNode>(
    db,
    'read_nodes',
    `select node, parent, depth, kind, status, score, content, call_id, usage, elapsed_ms::float8 as elapsed_ms, data
     from lanefold.run_node where thread_id = $1 and run_id = $2 and node > $3 order by node limit $4`,
    [threadId, runId, after, limit],
  );
}

/** Nodes as `_write_nodes` takes them, each once: a later draft of a node completes the earlier one. */
export function toNodes(drafts: readonly StrategyNode[] = []): object[] | undefined {
  if (drafts.length === 0) return undefined;
  const byNode = new Map<number, StrategyNode>();
  for (const draft of drafts) byNode.set(draft.node, changedNode(byNode.get(draft.node), draft));
  return [...byNode.values()].map(({ callNo, elapsedMs, ...node }) => ({
    ...node,
    call_no: callNo,
    elapsed_ms: elapsedMs,
  }));
}
