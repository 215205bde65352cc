import { isOfProvider, isOfRuns, isSettled } from '../../agent/limits/limit.ts';
import type { SpentByModel } from '../../database/store/run/spent.ts';
import type { Amounts, LimitAnswer, LimitCall, Take } from '../../database/store/limit/use-limits.ts';
import {
  amountAt,
  sharesOf,
  takeOf,
  usedBy,
  type CallTokens,
  type Price,
  dimensionsOf,
  type LimitedRun,
} from './limited-run.ts';
import type { LimitGate, Placed } from './gate.ts';
import { exhausted, tooSmall } from './refusals.ts';

/** What a call has reserved. */
export interface Reservation {
  /** Limits that give notice and were passed, by their places. */
  passed?: readonly string[];
  /**
   * The call has ended and used this; without tokens it was not answered. It is not known of a `lost` one whether the provider
   * counted it. Nothing after the first call counts.
   */
  end(used?: CallTokens, how?: 'refused' | 'lost'): void;
}

/** A call that has reserved. */
interface ReservedCall {
  placed: readonly Placed[];
  model: string;
  take: Take;
  slices: Amounts;
}

type Done = NonNullable<LimitCall['done']>;

/**
 * The limits of one run under this worker's lease. Each model call reserves what it may use before it is made; what it
 * did use is settled with the next statement. A run without limits costs nothing.
 */
export class RunLimits {
  /** Calls that have ended and are not settled yet. */
  #done: Promise<Done>[] = [];
  /** Nothing was asked for yet: what an earlier claim has reserved returns with the first call. */
  #claimed = true;
  #used = false;
  #first: Promise<LimitAnswer> | undefined;
  #open = 0;
  #onEnd: (() => void)[] = [];
  #refused: Pick<LimitCall, 'take' | 'shares'> = {};

  constructor(
    private readonly gate: LimitGate,
    private readonly run: LimitedRun,
    private readonly price: Price,
    /** What the run had used when it was claimed. */
    private readonly spentBefore: readonly SpentByModel[],
    /** First claim: no earlier one has reserved anything. */
    private readonly fresh = false,
  ) {}

  /** Whether any limit applies to calls of this model. */
  applies = (model: string): boolean => this.#places(model).length > 0;

  /**
   * Reserves what a call may use, of all its limits or of none.
   *
   * @throws LimitReached if the run has to wait
   * @throws LanefoldError `budget_exhausted`, `limit_too_small`, `price_unknown`: the run has to end
   */
  async take(model: string, tokens: CallTokens): Promise<Reservation | undefined> {
    for (;;) {
      const placed = this.#places(model);
      if (placed.length === 0) return undefined;
      const take = await takeOf(placed, model, tokens, this.price);
      const shares = sharesOf(placed, dimensionsOf(this.run, model));
      const answer = await this.#use({ take, shares });
      if (answer.stale !== undefined) continue;
      if (answer.ok) {
        const reservation = this.#reservation({ placed, model, take, slices: answer.slices ?? {} });
        return answer.passed ? { ...reservation, passed: answer.passed } : reservation;
      }
      const { impossible, refused, most = 0, ends, delay_ms: delayMs } = answer;
      if (impossible !== undefined) throw tooSmall(impossible, most, amountAt(take, impossible));
      if (this.#open === 0) {
        if (ends) throw exhausted(refused!);
        this.#refused = { take, shares };
        throw new LimitReached(refused!, delayMs);
      }
      // another call of this run may return what this one needs, and would be lost with the run
      await new Promise<void>((resolve) => this.#onEnd.push(resolve));
    }
  }

  /**
   * Puts the run in line for what it was refused, after its job was delayed. Returns whether its turn has come already.
   */
  async wait(): Promise<boolean> {
    const answer = await this.#use({ ...this.#refused, job: this.run.job });
    // with other limits, the run asks again
    return answer.refused === undefined || answer.ends === true;
  }

  /** Returns the slots of a run that waits for something else. */
  async pause({ fresh }: { fresh: boolean }): Promise<void> {
    if (this.#mayHold(fresh)) await this.#use({ pause: true });
  }

  /** Settles everything: the run has ended and has used this. `fresh`: it was the first claim. */
  async end(spent: readonly SpentByModel[], { fresh }: { fresh: boolean }): Promise<void> {
    if (!this.#mayHold(fresh)) return;
    await this.#use({ end: await usedBy(spent, this.#places, this.price) });
  }

  /** The provider wants no call before: every run of the model waits. */
  async drain(model: string, delayMs: number): Promise<void> {
    const drained = this.#places(model).filter(({ limit }) => isOfProvider(limit));
    if (drained.length === 0) return;
    await this.#use({ drain: Object.fromEntries(drained.map(({ place }) => [place, delayMs])) });
  }

  /** A run that has asked for nothing yet may hold slots since it was accepted, or anything since an earlier claim. */
  #mayHold = (fresh: boolean): boolean =>
    this.#used ||
    (this.gate.version > 0 && (!fresh || this.#places(this.run.model).some(({ limit }) => isOfRuns(limit))));

  #reservation(call: ReservedCall): Reservation {
    this.#open += 1;
    return {
      end: (used, how) => {
        this.#open -= 1;
        this.#done.push(this.#settlement(call, used, how === 'lost'));
        // after the answer of the call that has ended
        for (const resume of this.#onEnd.splice(0)) setImmediate(resume);
      },
    };
  }

  async #settlement(
    { placed, model, take, slices }: ReservedCall,
    used: CallTokens | undefined,
    lost: boolean,
  ): Promise<Done> {
    const settled = placed.filter(({ limit }) => isSettled(limit));
    const amounts = used && settled.length > 0 ? await takeOf(settled, model, used, this.price) : [];
    return settled.map(({ place }): Done[number] => {
      const done: Done[number] = [place, amountAt(take, place), slices[place] ?? 0, amountAt(amounts, place)];
      return lost ? [done[0], done[1], done[2], done[3], true] : done;
    });
  }

  /** The first call of a claim returns what an earlier one has reserved, so it must be alone. */
  async #use(call: LimitCall): Promise<LimitAnswer> {
    while (this.#first) await this.#first.catch(() => {});
    if (!this.#claimed) return this.#send(call);
    this.#first = this.#send(call).finally(() => (this.#first = undefined));
    return this.#first;
  }

  async #send(call: LimitCall): Promise<LimitAnswer> {
    const ended = this.#done.splice(0);
    const done = (await Promise.all(ended)).flat();
    const first = this.#claimed && call.take !== undefined;
    const base = first && !this.fresh ? { base: await usedBy(this.spentBefore, this.#places, this.price) } : {};
    const { threadId: thread_id, runId: run_id, createdAt: since, priority } = this.run;
    const taking = call.take && { version: this.gate.version, since, priority };
    const restore = () => this.#done.unshift(...ended);
    let answer: LimitAnswer;
    try {
      const whole = { thread_id, run_id, ...call, ...taking, ...base, ...(done.length > 0 ? { done } : {}) };
      answer = await (call.end ? this.gate.useSoon(whole) : this.gate.use(whole));
    } catch (error) {
      restore();
      throw error;
    }
    if (answer.stale !== undefined) restore();
    else if (first) this.#claimed = false;
    this.#used = true;
    return answer;
  }

  #places = (model: string): Placed[] => this.gate.places(this.run.tenant, dimensionsOf(this.run, model));
}

/** A limit keeps a run from continuing now. Nothing was reserved; the run waits without a worker. */
export class LimitReached extends Error {
  constructor(
    /** The bucket, as `placeOf` names it. */
    readonly place: string,
    /** When it may continue, in ms from now; undefined: once another run has ended. */
    readonly delayMs: number | undefined,
  ) {
    super(`The run waits for the limit ${place.split(' ')[1]}.`);
    this.name = 'LimitReached';
  }
}
