import { get } from '../../api/client.ts';
import type { RunCounts } from '../../api/types.ts';
import { route } from '../../state/route.ts';

const names = [
  'text',
  'tenant_id',
  'metadata',
  'status',
  'agent',
  'version',
  'model',
  'error_type',
  'mark',
  'waiting_for',
  'answered',
  'min_tokens',
  'created_after',
  'created_before',
];

/** Counts of the runs in the list, as if it were not filtered by `but`; undefined if the key may not see them. */
export function countsOf(but: string, signal: AbortSignal): Promise<RunCounts | undefined> {
  const { query } = route.value;
  const filter = Object.fromEntries(names.filter((name) => name !== but).map((name) => [name, query.get(name)]));
  filter['children'] = query.get('children') ?? 'false';
  return get<RunCounts>('/v1/runs/counts', filter, signal).catch(() => undefined);
}
