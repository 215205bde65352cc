import type { RunNode } from '../../database/store/run/read-nodes.ts';
import { inOneLine } from './show-message.ts';

const width = 100;

/**
 * The nodes of a run as a tree, one line each: scores and contents, indented below their parents. For a strategy that
 * builds a tree of thoughts, only the thoughts are shown, not the calls that led to them.
 */
export function drawTree(nodes: readonly RunNode[]): string {
  const thoughts = nodes.filter(({ callId }) => callId === null);
  const shown = thoughts.length > 0 ? thoughts : nodes;
  const known = new Set(shown.map(({ node }) => node));
  const childrenOf = new Map<number, RunNode[]>();
  for (const node of shown) {
    const parent = node.parent !== null && known.has(node.parent) ? node.parent : 0;
    childrenOf.set(parent, [...(childrenOf.get(parent) ?? []), node]);
  }
  const lines: string[] = ['question'];
  // an explicit stack, because a chain of a thousand steps is deep
  const open = (childrenOf.get(0) ?? []).map((node) => ({ node, depth: 1 })).reverse();
  for (let next = open.pop(); next; next = open.pop()) {
    const { node, depth } = next;
    lines.push(`${'  '.repeat(depth)}${lineOf(node)}`);
    open.push(...(childrenOf.get(node.node) ?? []).map((child) => ({ node: child, depth: depth + 1 })).reverse());
  }
  return lines.join('\n');
}

function lineOf({ node, kind, status, score, content }: RunNode): string {
  const what = kind === 'thought' ? '' : `${kind} `;
  const how = [...(score === null ? [] : [score.toFixed(2)]), ...(status === 'best' ? ['best'] : [])].join(' ');
  return `${node} ${what}${how && `(${how}) `}${inOneLine(content ?? '', width)}`.trimEnd();
}
