import type { StoredEntry } from '../../store/evidence/entry-hash.ts';
import { parseJson } from '../../common/json.ts';

interface Quoting {
  refs?: { contents?: unknown } | null;
}

/**
 * The ids of the large texts that an entry quotes: a message quotes them itself, an operation in the context that it
 * sets. Entries of other kinds do not count: callers decide what is in them, and it may look like either.
 */
export function quotedContents({ kind, refs, payload }: StoredEntry): string[] {
  if (kind === 'ai_message' && refs?.includes('"contents"')) return idsOf({ refs: parseJson(refs) as Quoting['refs'] });
  if (kind !== 'ai_context_operation' || !payload.includes('"contents"')) return [];
  const { operation } = parseJson(payload) as { operation?: { result_context?: { entries?: (Quoting | null)[] } } };
  const entries = operation?.result_context?.entries;
  return Array.isArray(entries) ? entries.flatMap(idsOf) : [];
}

const idsOf = (quoting: Quoting | null): string[] => {
  const contents = quoting?.refs?.contents;
  return Array.isArray(contents) ? contents.map((each: { id?: unknown } | null) => String(each?.id)) : [];
};
