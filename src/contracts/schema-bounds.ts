/** How large a JSON Schema is, and what is in it that can take time out of proportion. */
export interface SchemaSize {
  /** JSON values, those behind each `$ref` counted wherever they are referred to; Infinity for a schema that is recursive. */
  values: number;
  /** It has a pattern or a format, which are regular expressions, or compares the items of a list with each other. */
  patterns: boolean;
}

/**
 * Characters of a schema, depth of its JSON, `$ref`s that lead from one to the next, and values with every `$ref` followed,
 * which a recursive schema has no number of.
 */
export const schemaLimits = { characters: 2 ** 18, depth: 64, refs: 64, values: 20_000 };

const slowKeywords = ['pattern', 'patternProperties', 'format', 'uniqueItems', 'contentMediaType', 'contentEncoding'];

/**
 * Measures a JSON Schema in time proportional to its text. Returns why it is not acceptable, as the end of a sentence, if
 * it is not.
 */
export function measureSchema(schema: unknown): SchemaSize | string {
  const tooDeep = `schema is nested more than ${schemaLimits.depth} levels deep`;
  let text: string;
  try {
    text = JSON.stringify(schema);
  } catch (error) {
    return error instanceof RangeError ? tooDeep : 'schema is not JSON';
  }
  if (text.length > schemaLimits.characters)
    return `schema has ${text.length} characters, more than ${schemaLimits.characters}`;
  const patterns = slowKeywords.some((keyword) => text.includes(`"${keyword}":`));
  const known = new Map<object, number>();
  const open = new Set<object>();
  let fault: string | undefined;

  const valuesIn = (node: unknown, depth: number, refs: number): number => {
    if (typeof node !== 'object' || node === null) return 1;
    const before = known.get(node);
    if (before !== undefined) return before;
    if (open.has(node)) return Infinity;
    if (depth > schemaLimits.depth) fault = tooDeep;
    if (refs > schemaLimits.refs) fault = `schema has a chain of more than ${schemaLimits.refs} $refs`;
    if (fault) return 1;
    open.add(node);
    let values = 1;
    for (const child of Object.values(node)) values += valuesIn(child, depth + 1, refs);
    const ref = (node as { $ref?: unknown }).$ref;
    if (typeof ref === 'string') values += valuesIn(resolve(schema, ref), 0, refs + 1);
    open.delete(node);
    known.set(node, values);
    return values;
  };

  const values = valuesIn(schema, 0, 0);
  if (fault) return fault;
  if (Number.isFinite(values) && values > schemaLimits.values)
    return `schema has more than ${schemaLimits.values} values once every $ref is followed`;
  return { values, patterns };
}

/** What a local reference (`#/$defs/a`) points to; undefined where that is nothing, which the parser of the schema reports. */
function resolve(root: unknown, ref: string): unknown {
  if (!ref.startsWith('#')) return undefined;
  let node: unknown = root;
  for (const part of ref.slice(1).split('/').slice(1)) {
    if (typeof node !== 'object' || node === null) return undefined;
    node = (node as Record<string, unknown>)[part.replaceAll('~1', '/').replaceAll('~0', '~')];
  }
  return node;
}
