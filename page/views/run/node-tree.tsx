import type { RunNode } from '../../api/types.ts';
import { Tag } from '../../parts/basics.tsx';
import { tokens } from '../../parts/format.ts';
import { Text } from '../../parts/message.tsx';

const deepest = 16;

export interface NodeTreeProps {
  nodes: RunNode[];
}

/**
 * The results of a strategy: its thoughts as a tree, each below the one it follows from, and the answers they are
 * derived from. For a strategy without thoughts, the tree shows the answers.
 */
export function NodeTree({ nodes }: NodeTreeProps) {
  const answers = nodes.filter(({ call_id: callId }) => callId !== null);
  const thoughts = nodes.filter(({ call_id: callId }) => callId === null);
  const best = wayToBest(nodes);
  return (
    <section aria-labelledby="nodes">
      <h2 id="nodes">Findings</h2>
      <ol class="tree plain">
        {inOrder(thoughts.length > 0 ? thoughts : answers).map(({ node, depth }) => (
          <li
            key={node.node}
            class={best.has(node.node) ? 'best' : ''}
            style={{ paddingLeft: `${Math.min(depth, deepest)}rem` }}
          >
            <Node node={node} open={best.has(node.node)} />
          </li>
        ))}
      </ol>
      {thoughts.length > 0 && answers.length > 0 && (
        <details class="fold">
          <summary>Answers of the model ({answers.length})</summary>
          {answers.map((node) => (
            <Node key={node.node} node={node} />
          ))}
        </details>
      )}
    </section>
  );
}

const Node = ({ node, open = false }: { node: RunNode; open?: boolean }) => (
  <details class="fold" open={open}>
    <summary>
      <span class="num">{node.node}</span> {node.kind !== 'thought' && <span>{node.kind} </span>}
      {node.status !== 'open' && <Tag>{node.status}</Tag>}{' '}
      {node.score !== null && (
        <strong class="num" title="Score">
          {node.score.toFixed(2)}
        </strong>
      )}{' '}
      {node.content?.slice(0, 100)}
      {node.usage && <span class="num"> {tokens(node.usage)} tokens</span>}
    </summary>
    {node.content && <Text text={node.content} />}
  </details>
);

/** The nodes depth first, with an explicit stack, because a chain may have a thousand steps. */
function inOrder(nodes: RunNode[]): { node: RunNode; depth: number }[] {
  const known = new Set(nodes.map(({ node }) => node));
  const children = new Map<number, RunNode[]>();
  for (const node of nodes) {
    const parent = node.parent !== null && known.has(node.parent) ? node.parent : 0;
    const siblings = children.get(parent);
    if (siblings) siblings.push(node);
    else children.set(parent, [node]);
  }
  const below = (parent: number, depth: number) =>
    (children.get(parent) ?? []).map((node) => ({ node, depth })).toReversed();
  const found: { node: RunNode; depth: number }[] = [];
  const open = below(0, 0);
  for (let next = open.pop(); next; next = open.pop()) {
    found.push(next);
    open.push(...below(next.node.node, next.depth + 1));
  }
  return found;
}

/** The best nodes and all their ancestors. */
function wayToBest(nodes: RunNode[]): ReadonlySet<number> {
  const known = new Map(nodes.map((node) => [node.node, node]));
  const way = new Set<number>();
  for (const { node, status } of nodes) {
    if (status !== 'best') continue;
    for (let at = known.get(node); at && !way.has(at.node); at = known.get(at.parent ?? 0)) way.add(at.node);
  }
  return way;
}
