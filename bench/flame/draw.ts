import { drawing } from '../support/svg.ts';
import type { Samples, Stacks } from './samples.ts';

const size = { width: 1200, left: 10, top: 40, row: 15 };
/** Frames of which fewer samples were taken are left out. */
const leastShare = 0.003;

interface Node {
  name: string;
  count: number;
  called: Map<string, Node>;
}

/** Draws stacks as an SVG, a process beside the other: what is below called what is above, and width is CPU time. */
export function drawFlames(title: string, samples: Samples): string {
  const root: Node = { name: 'all', count: 0, called: new Map() };
  for (const [process, stacks] of samples) addStacks(root, process, stacks);
  const least = root.count * leastShare;
  const height = size.top + depthOf(root, least) * size.row + 10;
  const parts: string[] = [];
  const scale = (size.width - 2 * size.left) / root.count;
  const place = (node: Node, x: number, level: number): void => {
    const [width, y] = [node.count * scale, height - 10 - level * size.row];
    parts.push(frame(node, { x, y, width, share: node.count / root.count }));
    let at = x;
    for (const child of [...node.called.values()].toSorted((a, b) => a.name.localeCompare(b.name))) {
      if (child.count >= least) place(child, at, level + 1);
      at += child.count * scale;
    }
  };
  place(root, size.left, 1);
  return drawing({ ...size, height }, title, parts);
}

function addStacks(root: Node, process: string, stacks: Stacks): void {
  for (const [stack, count] of stacks) {
    let node = root;
    node.count += count;
    for (const name of [process, ...stack.split(';')]) {
      const next = node.called.get(name) ?? { name, count: 0, called: new Map() };
      node.called.set(name, next);
      next.count += count;
      node = next;
    }
  }
}

const depthOf = (node: Node, least: number): number =>
  1 + Math.max(0, ...[...node.called.values()].map((child) => (child.count < least ? 0 : depthOf(child, least))));

function frame({ name }: Node, at: { x: number; y: number; width: number; share: number }): string {
  const [x, width] = [at.x.toFixed(1), at.width.toFixed(1)];
  const letters = Math.floor(at.width / 6.2);
  const shown = letters < 3 ? '' : escaped(name.length > letters ? `${name.slice(0, letters - 1)}…` : name);
  const text = shown && `<text x="${(at.x + 2).toFixed(1)}" y="${at.y + 11}" font-size="10">${shown}</text>`;
  return `<g><title>${escaped(name)}: ${(100 * at.share).toFixed(1)} %</title><rect x="${x}" y="${at.y}" width="${width}" height="${size.row - 1}" fill="${colourOf(name)}"/>${text}</g>`;
}

/** By where the code is: ours, a package or Node, the kernel, else PostgreSQL and V8. */
function colourOf(name: string): string {
  if (name.endsWith(' in lanefold')) return '#7fb3d5';
  if (/ in \S+$/.test(name)) return '#a9dfbf';
  return name.startsWith('kernel ') ? '#d7bde2' : '#f5cba7';
}

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
