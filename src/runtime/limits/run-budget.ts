import type { SpentByModel } from '../../store/run/spent.ts';
import { costOfRun, type CallTokens, type Price } from './amounts.ts';
import { costTooSmall, overBudget, priceUnknown } from './refusals.ts';
import type { Reservation } from './run-limits.ts';

/**
 * The most that the model calls of one run may cost (`maxCost`). What a call may cost is reserved before it, in memory: a
 * worker with the run's lease makes all its calls, and the next worker begins with what the log says was used.
 */
export class RunBudget {
  /** Of ended calls, once their price is known. */
  #spent: Promise<number>;
  #reserved = 0;
  #onEnd: (() => void)[] = [];

  /** @param dollars the most, in US dollars */
  constructor(
    private readonly dollars: number,
    private readonly price: Price,
    spentBefore: readonly SpentByModel[],
  ) {
    this.#spent = costOfRun(spentBefore, price);
    // reported to the call that needs it
    this.#spent.catch(() => {});
  }

  /** @throws LanefoldError `budget_exhausted`, `price_unknown`: the run has to end */
  async take(model: string, tokens: CallTokens): Promise<Reservation> {
    const cost = await this.price(model, tokens);
    if (cost === undefined) throw priceUnknown(model, 'its maxCost');
    for (;;) {
      const settled = this.#spent;
      const spent = await settled;
      // a call has ended meanwhile
      if (settled !== this.#spent) continue;
      if (spent + this.#reserved + cost <= this.dollars) break;
      if (this.#reserved === 0) throw overBudget(this.dollars, spent, cost);
      // another call of this run may cost less than it has reserved
      await new Promise<void>((resolve) => this.#onEnd.push(resolve));
    }
    this.#reserved += cost;
    return { end: (used) => this.#end(cost, used && this.price(model, used)) };
  }

  #end(reserved: number, used: Promise<number | undefined> | undefined): void {
    this.#reserved -= reserved;
    this.#spent = Promise.all([this.#spent, used]).then(([spent, cost = 0]) => spent + cost);
    this.#spent.catch(() => {});
    for (const resume of this.#onEnd.splice(0)) resume();
  }
}

/** @throws LanefoldError `limit_too_small`, `price_unknown`: a run with this budget could not make its first call */
export async function checkBudget(dollars: number, model: string, tokens: CallTokens, price: Price): Promise<void> {
  const cost = await price(model, tokens);
  if (cost === undefined) throw priceUnknown(model, 'its maxCost');
  if (cost > dollars) throw costTooSmall(dollars, cost);
}
