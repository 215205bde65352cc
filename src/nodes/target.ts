import type { Placements } from './placements.ts';

/**
 * What a statement concerns: the thread in one of its values, a node named by two of them, all nodes, or only what the
 * coordinator has.
 */
export type Target = { threadAt: number } | { nodeAt: number } | 'all' | 'coordinator';

const called = /\blanefold\.(\w+)\(\$(\d+)\b/g;
const named = /\blanefold\.(\w+)/g;
const thread = /\bthread_id = \$(\d+)\b/;
const row = /\bid = \$(\d+)\b/;
/** The one statement that goes to the nodes in its first two values. */
const onNode = /\bmaster_run_on_worker\(array\[\$(\d+)/;

/** Reads from the text of a statement which nodes it needs. */
export function targetOf(text: string, { relations, functions, everywhere }: Omit<Placements, 'shards'>): Target {
  const at = (position: string | undefined) => Number(position) - 1;
  const node = onNode.exec(text);
  if (node) return { nodeAt: at(node[1]) };
  const names = [...text.matchAll(named)].map(([, name]) => name!);
  if (names.some((name) => everywhere.has(name))) return 'all';
  for (const [, name, position] of text.matchAll(called)) if (functions.has(name!)) return { threadAt: at(position) };
  const distributed = new Set(names.filter((name) => relations.has(name)));
  if (distributed.size > 0) {
    const position = thread.exec(text)?.[1] ?? (only(distributed, 'thread') ? row.exec(text)?.[1] : undefined);
    return position === undefined ? 'all' : { threadAt: at(position) };
  }
  return names.some((name) => functions.has(name)) ? 'all' : 'coordinator';
}

const only = (names: ReadonlySet<string>, name: string): boolean => names.size === 1 && names.has(name);
