import type { EnqueueDeps } from '../../../runs/operations/runs/enqueue-options.ts';
import type { Message } from '../../../agent/context/message.ts';
import type { ItemRequest } from '../operations/start-item.ts';
import type { Database } from '../../../database/postgres/pool.ts';
import { readContext } from '../../../database/store/context/read-context.ts';
import { extendItem, type CaseRow } from '../store/items.ts';
import { readRun } from '../../../database/store/run/read-run.ts';
import type { Run } from '../../../database/store/run/run.ts';
import type { RunOptions } from '../../../agent/definition/run-options.ts';
import { priceAt, usualOutputTokens } from '../../../runs/limiter/limited-run.ts';
import type { BudgetShare } from '../../../runs/limiter/run-budget.ts';
import { RunContext } from '../../../worker/run/context.ts';
import { estimateInput } from '../../../agent/models/counting.ts';

const perDollar = 1_000_000;

/** Amounts are rounded up to millionths; what only an error of computing adds is no more. */
const microsOf = (dollars: number): number => Math.ceil(Number((dollars * perDollar).toFixed(6)));

/**
 * What the run of an item is expected to cost, in millionths of a dollar: what its first call may, or more if the recorded
 * run would have cost more on this model. Undefined if the price is unknown.
 */
export async function expectedCost(
  { db, counting, agents }: EnqueueDeps,
  source: CaseRow,
  { body }: ItemRequest,
): Promise<number | undefined> {
  const { model, options } = body;
  const given = (options ?? {}) as RunOptions;
  const { settings } = agents.under(body.agent, given.version).get(body.agent);
  const context = new RunContext(await readContext(db, source.thread_id, source.context_ref, source.seq));
  const asked = (body['input'] === undefined ? [] : [{ role: 'user', ...(body['input'] as object) }]) as Message[];
  const price = priceAt(counting, new Date(db.settings.clock.now()));
  const first = await price(model, {
    inputTokens: estimateInput(counting, model, [...context.messages, ...asked], []),
    outputTokens: given.settings?.max_output_tokens ?? settings.max_output_tokens ?? usualOutputTokens,
  });
  if (first === undefined) return undefined;
  const { usage, iteration } = (source.kind === 'run' &&
    source.run_id &&
    (await readRun(db, source.thread_id, source.run_id))) || {
    usage: null,
    iteration: 0,
  };
  const recorded = usage && (await price(model, { ...tokensOf(usage), calls: iteration }));
  return microsOf(Math.max(first, recorded ?? 0));
}

const tokensOf = (usage: NonNullable<Run['usage']>) => ({
  inputTokens: usage.input_tokens,
  outputTokens: usage.output_tokens,
  cachedTokens: usage.cache_read_tokens ?? 0,
  writtenTokens: usage.cache_write_tokens ?? 0,
});

/** What the run of an item may spend of the budget of its eval; undefined: the eval has none. */
export async function shareOf(db: Database, { eval: of }: RunOptions): Promise<BudgetShare | undefined> {
  const { id, no } = of!;
  const micros = await extendItem(db, id, no, 0);
  if (micros === undefined) return undefined;
  return {
    dollars: micros / perDollar,
    async more(dollars) {
      const more = microsOf(dollars);
      return (await extendItem(db, id, no, more)) === undefined ? 0 : more / perDollar;
    },
  };
}

/** Whether a run ended because the budget of its eval did not pay for its next call. */
export const endedUnpaid = ({ terminationReason, error }: Run): boolean =>
  terminationReason === 'budget_exhausted' || error?.type === 'budget_exhausted';
