import { changedNode, type NodeDraft } from '../../strategies/node.ts';

/** Nodes as `_write_nodes` takes them, each once: a later draft of a node completes the earlier one. */
export function toNodes(drafts: readonly NodeDraft[] = []): object[] | undefined {
  if (drafts.length === 0) return undefined;
  const byNode = new Map<number, NodeDraft>();
  for (const draft of drafts) byNode.set(draft.node, changedNode(byNode.get(draft.node), draft));
  return [...byNode.values()].map(({ callNo, elapsedMs, ...node }) => ({
    ...node,
    call_no: callNo,
    elapsed_ms: elapsedMs,
  }));
}
