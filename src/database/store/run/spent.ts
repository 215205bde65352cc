import type { SpentTokens } from '../../../agent/models/catalog.ts';
import type { Run } from './run.ts';
import { fromRows } from '../rows.ts';

/** Tokens of one model that were spent at about the same time. */
export interface SpentByModel extends SpentTokens {
  model: string;
  at: Date;
}

/** Tokens of runs of `model`: all of them, or the part spent on the model `other`. */
export interface SpentRow extends SpentByModel {
  other: string | null;
}

/**
 * SQL: joins each run with its total tokens, and with the tokens of each other model that a request transformer chose.
 * `r` has the columns `model`, `iteration`, `usage` and `other_usage` of runs, with `usage` not null.
 */
export const usageByModel = `cross join lateral jsonb_each(
  coalesce(r.other_usage, '{}') || jsonb_build_object('', r.usage || jsonb_build_object('calls', r.iteration))) u`;

/** SQL: the columns of a `SpentRow` except `at`, for runs grouped by `r.model` and `u.key`. */
export const spentColumns = `r.model, nullif(u.key, '') as other, sum((u.value ->> 'calls')::bigint) as calls,
  sum((u.value ->> 'input_tokens')::bigint) as input_tokens, sum((u.value ->> 'output_tokens')::bigint) as output_tokens,
  coalesce(sum((u.value ->> 'cache_read_tokens')::bigint), 0) as cached_tokens,
  coalesce(sum((u.value ->> 'cache_write_tokens')::bigint), 0) as written_tokens`;

/** SQL: noon of the day (UTC) of a time. */
export const dayOf = (at: string): string =>
  `((${at} at time zone 'utc')::date + interval '12 hours') at time zone 'utc'`;

/** SQL: the tokens of `runs` by model and day (UTC); `at` is noon of the day. */
export const spentIn = (runs: string): string =>
  `(select json_agg(p) from (
     select ${spentColumns}, ${dayOf('r.created_at')} as at
     from (${runs}) r ${usageByModel}
     where r.usage is not null
     group by r.model, u.key, ${dayOf('r.created_at')}) p)`;

/** Converts what `spentIn` returned; null means no tokens. */
export const toSpent = (rows: readonly object[] | null): SpentByModel[] => byModel(fromRows(rows));

/** The tokens of one run. */
export function spentOf({
  model,
  createdAt: at,
  iteration,
  usage,
  otherUsage,
}: Pick<Run, 'model' | 'createdAt' | 'iteration' | 'usage' | 'otherUsage'>): SpentByModel[] {
  if (!usage) return [];
  const row = (other: string | null, calls: number, counters: Record<string, number>): SpentRow => ({
    model,
    other,
    at,
    calls,
    inputTokens: counters['input_tokens'] ?? 0,
    outputTokens: counters['output_tokens'] ?? 0,
    cachedTokens: counters['cache_read_tokens'] ?? 0,
    writtenTokens: counters['cache_write_tokens'] ?? 0,
  });
  const others = Object.entries(otherUsage ?? {}).map(([other, counters]) =>
    row(other, counters['calls'] ?? 1, counters),
  );
  return byModel([row(null, iteration, usage), ...others]);
}

const counters = ['calls', 'inputTokens', 'outputTokens', 'cachedTokens', 'writtenTokens'] as const;

/** Sums tokens by the model that spent them: subtracts those of other models from the runs' own model. */
function byModel(rows: readonly SpentRow[]): SpentByModel[] {
  const found = new Map<string, SpentByModel>();
  const add = (model: string, { at, ...row }: SpentRow, sign: 1 | -1) => {
    const place = `${at.getTime()} ${model}`;
    const sum = found.get(place) ?? {
      model,
      at,
      calls: 0,
      inputTokens: 0,
      outputTokens: 0,
      cachedTokens: 0,
      writtenTokens: 0,
    };
    for (const counter of counters) sum[counter] += sign * row[counter];
    found.set(place, sum);
  };
  for (const row of rows) {
    add(row.other ?? row.model, row, 1);
    if (row.other !== null) add(row.model, row, -1);
  }
  return [...found.values()].filter(({ inputTokens, outputTokens }) => inputTokens + outputTokens > 0);
}
