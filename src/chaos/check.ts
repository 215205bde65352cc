import type { Check } from './checks/index.ts';
import { checks } from './checks/index.ts';
import { projectAgain } from './replay-contexts.ts';
import type { Watch } from './watch.ts';
import { witnessed } from './history.ts';

/** A row that must not be. */
export interface Violation {
  invariant: string;
  /** The sentence that does not hold. */
  name: string;
  row: Record<string, unknown>;
}

/** At most this many of one check: the report is for people. */
const shown = 100;

/** Asks all the questions and projects every run again. Nothing must be at work. */
export async function judge(
  watch: Watch,
  { witness = true } = {},
): Promise<{ violations: Violation[]; projectedCalls: number }> {
  const violations: Violation[] = [];
  for (const check of witness ? [...checks, ...witnessed] : checks) violations.push(...(await breaches(watch, check)));
  const projected = await projectAgain(watch);
  return { violations: [...violations, ...projected.violations], projectedCalls: projected.calls };
}

async function breaches(watch: Watch, { invariant, name, sql }: Check): Promise<Violation[]> {
  const rows = await watch.query<{ row: Record<string, unknown> }>(
    `select to_jsonb(b) as row from (${sql}) b limit ${shown}`,
  );
  return rows.map(({ row }) => ({ invariant, name, row }));
}
