/** Requests may be nested 100 levels deep, and entries wrap what they bring. The limit protects code that walks a value. */
const maxDepth = 120;

/** What makes a value unfit for the log: a number that JSON does not have, or its depth. */
export function findUnplain(value: unknown, depth = 0): string | undefined {
  if (typeof value === 'number' && !Number.isFinite(value)) return 'has a number that is out of range';
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return undefined;
  if (depth === maxDepth) return `is nested deeper than ${maxDepth} levels`;
  for (const child of Object.values(value)) {
    const problem = findUnplain(child, depth + 1);
    if (problem !== undefined) return problem;
  }
  return undefined;
}
