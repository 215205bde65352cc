import type { Check, Violation } from './checks/check.ts';
import { checks } from './checks/index.ts';
import { historyChecks } from './history.ts';
import type { Observer } from './observer.ts';
import { replayContexts } from './replay-contexts.ts';

export interface CheckResult {
  violations: Violation[];
  /** Answered model calls whose context was replayed. */
  replayedCalls: number;
}

/** Limit per check: people read the report. */
const maxViolations = 100;

/** Runs every check and replays every context. No run may be in progress. */
export async function runChecks(observer: Observer): Promise<CheckResult> {
  const violations: Violation[] = [];
  for (const check of [...checks, ...historyChecks]) violations.push(...(await violationsOf(observer, check)));
  const replayed = await replayContexts(observer);
  return { violations: [...violations, ...replayed.violations], replayedCalls: replayed.calls };
}

async function violationsOf(observer: Observer, { invariant, name, sql }: Check): Promise<Violation[]> {
  const rows = await observer.query<{ row: Record<string, unknown> }>(
    `select to_jsonb(b) as row from (${sql}) b limit ${maxViolations}`,
  );
  return rows.map(({ row }) => ({ invariant, name, row }));
}
