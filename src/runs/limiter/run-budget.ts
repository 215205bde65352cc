import { perDollar } from '../../agent/limits/limit.ts';
import type { SpentByModel } from '../../database/store/run/spent.ts';
import { spentBy, priceAt, type CallTokens, type Price, type RunUse, type LimitedRun } from './limited-run.ts';
import { costTooSmall, overBudget, priceUnknown } from './refusals.ts';
import { RunLimits, type Reservation } from './run-limits.ts';
import type { Counting } from '../../agent/models/counting.ts';
import type { Database } from '../../database/postgres/pool.ts';
import { readLimitedRun } from '../../database/store/limit/limited-run.ts';
import type { LimitGate } from './gate.ts';

/** A part of a budget that others spend too. */
export interface BudgetShare {
  /** What it is now, in US dollars. */
  dollars: number;
  /** Adds at least so many dollars to it, and returns how many; 0: there is not so much left. */
  more(dollars: number): Promise<number>;
}

/**
 * The most that the model calls of one run and of those it started may cost (`maxCost`). What a call may cost is reserved before it, in memory: a
 * worker with the run's lease makes all its calls, and the next worker begins with what the log says was used.
 */
export class RunBudget {
  #most: number;
  /** What `#most` may become. */
  readonly #highest: number;
  /** In billionths of a dollar, like every amount here; known once the prices of the ended calls are. */
  #spent: Promise<number>;
  #reserved = 0;
  #open = 0;
  #onEnd: (() => void)[] = [];

  /**
   * @param dollars the most, in US dollars
   * @param childCost what the runs it started have cost, in US dollars
   * @param share what it has now of the budget that pays for it; without one, all of `dollars`
   */
  constructor(
    dollars: number,
    private readonly price: Price,
    spentBefore: readonly SpentByModel[],
    childCost = 0,
    private readonly share?: BudgetShare,
  ) {
    this.#highest = billionths(dollars);
    this.#most = Math.min(this.#highest, billionths(share?.dollars ?? dollars));
    const own = Promise.all(spentBefore.map(({ model, ...tokens }) => costOf(price, model, tokens)));
    this.#spent = own.then((costs) => sumOf(costs) + billionths(childCost));
    // reported to the call that needs it
    this.#spent.catch(() => {});
  }

  /** @throws LanefoldError `budget_exhausted`, `price_unknown`: the run has to end */
  async take(model: string, tokens: CallTokens): Promise<Reservation> {
    const cost = await costOf(this.price, model, tokens);
    for (;;) {
      const settled = this.#spent;
      const spent = await settled;
      // a call has ended meanwhile
      if (settled !== this.#spent) continue;
      const short = spent + this.#reserved + cost - this.#most;
      if (short <= 0) break;
      if (await this.#grow(short)) continue;
      if (settled !== this.#spent) continue;
      if (this.#open === 0) throw overBudget(this.#most / perDollar, spent / perDollar, cost / perDollar);
      // another call of this run may cost less than it has reserved
      await new Promise<void>((resolve) => this.#onEnd.push(resolve));
    }
    this.#open += 1;
    this.#reserved += cost;
    return { end: (used) => this.#end(cost, used && { model, used }) };
  }

  /** Gives a part of it to another run, in US dollars. */
  give(dollars: number): void {
    this.#spent = this.#spent.then((spent) => spent + billionths(dollars));
    this.#spent.catch(() => {});
  }

  /** What is left, in US dollars. */
  async left(): Promise<number> {
    return Math.max(0, this.#most - (await this.#spent) - this.#reserved) / perDollar;
  }

  async #grow(by: number): Promise<boolean> {
    if (!this.share || this.#most + by > this.#highest) return false;
    const added = billionths(await this.share.more(by / perDollar));
    this.#most += added;
    return added > 0;
  }

  #end(reserved: number, call: { model: string; used: CallTokens } | undefined): void {
    this.#open -= 1;
    this.#reserved -= reserved;
    // if its price fails now, the call counts as what it could have cost
    const cost = call ? costOf(this.price, call.model, call.used).catch(() => reserved) : 0;
    this.#spent = Promise.all([this.#spent, cost]).then(sumOf);
    this.#spent.catch(() => {});
    // after the answer of the call that has ended
    for (const resume of this.#onEnd.splice(0)) setImmediate(resume);
  }
}

/** @throws LanefoldError `limit_too_small`, `price_unknown`: a run with this budget could not make its first call */
export async function checkBudget(dollars: number, model: string, tokens: CallTokens, price: Price): Promise<void> {
  const cost = await costOf(price, model, tokens);
  if (cost > billionths(dollars)) throw costTooSmall(dollars, cost / perDollar);
}

async function costOf(price: Price, model: string, tokens: CallTokens): Promise<number> {
  const cost = await price(model, tokens);
  if (cost === undefined) throw priceUnknown(model, 'its maxCost');
  return billionths(cost);
}

const billionths = (dollars: number): number => Math.round(dollars * perDollar);
const sumOf = (costs: readonly number[]): number => costs.reduce((sum, cost) => sum + cost, 0);

interface Settling {
  db: Database;
  gate: LimitGate;
  counting: Pick<Counting, 'priceOf'>;
}

/**
 * Closes the account of a run that has ended, for a process that did not execute it: what was reserved returns, and what
 * the run used is counted as its row says. The worker that made the last calls may have left before it settled them.
 */
export async function settleRun(
  { db, gate, counting }: Settling,
  { threadId, runId }: { threadId: string; runId: string },
): Promise<void> {
  if (gate.version === 0) return;
  const row = await readLimitedRun(db, threadId, runId);
  // its thread was erased
  if (!row) return gate.settle({ threadId, runId });
  if (!row.finishedAt) return;
  const { tenantId, limitKeys, priority, createdAt, ...used } = row;
  const run = {
    ...used,
    threadId,
    runId,
    tenant: tenantId,
    limitKeys: limitKeys ?? {},
    priority: priority ?? 0,
    createdAt: createdAt.toISOString(),
    // it will not wait again
    job: { queue: '', enqueue_no: 0, agent: row.agent },
  };
  await limitsFor(gate, counting, run, row).end(spentBy(run, row), { fresh: false });
}

/** The limits of a run that has used this much when it was claimed. */
export function limitsFor(
  gate: LimitGate,
  counting: Pick<Counting, 'priceOf'>,
  run: LimitedRun,
  used: RunUse,
  fresh = false,
): RunLimits {
  return new RunLimits(gate, run, priceAt(counting, new Date(run.createdAt)), spentBy(run, used), fresh);
}
