import type { Dimensions } from '../../limits/dimensions.ts';
import { amountOf, isSettled, type CallUse } from '../../limits/demand.ts';
import { LanefoldError } from '../../errors.ts';
import type { SpentByModel } from '../../store/run/spent.ts';
import type { LimitAnswer, LimitCall, WaitingJob } from '../../store/limit/use-limits.ts';
import type { LimitGate, Placed } from './gate.ts';
import { LimitReached } from './limit-reached.ts';

/** What limits need to know of a claimed run. */
export interface LimitedRun {
  threadId: string;
  runId: string;
  tenant: string;
  agent: string;
  /** The API key that started it. */
  caller: string | null;
  limitKeys: Readonly<Record<string, string>>;
  /** When it was accepted: its place in line. */
  createdAt: string;
  priority: number;
  job: WaitingJob;
}

/** The tokens of a call, counted before it or by its provider. */
export type CallTokens = Pick<CallUse, 'inputTokens' | 'outputTokens'> & {
  cachedTokens?: number;
  writtenTokens?: number;
};

type Price = (model: string, tokens: CallTokens & { calls?: number }) => Promise<number | undefined>;

/** What a call has reserved. */
export interface Reservation {
  /** The call has ended and used this; without tokens it was not answered. Nothing after the first call counts. */
  end(used?: CallTokens): void;
}

/**
 * The limits of one run under this worker's lease. Each model call reserves what it may use before it is made; what it
 * did use is settled with the next statement. A run without limits costs nothing.
 */
export class RunLimits {
  /** Calls that have ended and are not settled yet. */
  #done: Promise<NonNullable<LimitCall['done']>>[] = [];
  /** What an earlier claim has reserved has not been returned yet. */
  #claimed = true;
  #used = false;
  #first: Promise<LimitAnswer> | undefined;
  #open = 0;
  #onEnd: (() => void)[] = [];
  #taking: LimitCall['take'];
  #shares: Record<string, string> = {};

  constructor(
    private readonly gate: LimitGate,
    private readonly run: LimitedRun,
    private readonly price: Price,
    /** What the run had used when it was claimed. */
    private readonly spentBefore: readonly SpentByModel[],
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
      const take = await this.#amounts(placed, model, tokens);
      const answer = await this.#use({ take, version: this.gate.version });
      if (answer.stale !== undefined) continue;
      if (answer.ok) {
        this.#open += 1;
        return this.#reservation(placed, model, take, answer.slices ?? {});
      }
      if (answer.impossible !== undefined) throw tooSmall(answer, take);
      if (answer.ends) throw exhausted(answer.refused!);
      if (this.#open === 0) {
        this.#taking = take;
        this.#shares = sharesOf(placed, this.#dimensions(model));
        throw new LimitReached(answer.refused!, answer.delay_ms);
      }
      // another call of this run may return what this one needs, and would be lost with the run
      await new Promise<void>((resolve) => this.#onEnd.push(resolve));
    }
  }

  /**
   * Puts the run in line for what it was refused, after its job was delayed. Returns whether it may go on at once.
   */
  async wait(): Promise<boolean> {
    const { job, createdAt: since, priority } = this.run;
    const answer = await this.#use({
      ...{ take: this.#taking!, shares: this.#shares, version: this.gate.version, job, since, priority },
    });
    // with other limits, the run asks again
    return answer.refused === undefined || answer.ends === true;
  }

  /** Returns the slots of a run that waits for something else. */
  async pause({ fresh }: { fresh: boolean }): Promise<void> {
    if (this.#used || (!fresh && this.gate.version > 0)) await this.#use({ pause: true });
  }

  /** Settles everything: the run has ended and has used this. */
  async end(spent: readonly SpentByModel[], { fresh }: { fresh: boolean }): Promise<void> {
    if (!this.#used && (fresh || this.gate.version === 0)) return;
    await this.#use({ end: await this.#amountsOf(spent) });
  }

  /** The provider wants no call before: every run of the model waits. */
  async drain(model: string, delayMs: number): Promise<void> {
    const drained = this.#places(model).filter(({ limit: { kind, scope } }) => isOfProvider(kind, scope));
    if (drained.length === 0) return;
    await this.#use({ drain: Object.fromEntries(drained.map(({ place }) => [place, delayMs])) });
  }

  #reservation(
    placed: readonly Placed[],
    model: string,
    take: Record<string, number>,
    slices: Readonly<Record<string, number>>,
  ): Reservation {
    return {
      end: (used) => {
        this.#open -= 1;
        this.#done.push(this.#settlement(placed, model, take, slices, used));
        for (const resume of this.#onEnd.splice(0)) resume();
      },
    };
  }

  async #settlement(
    placed: readonly Placed[],
    model: string,
    take: Record<string, number>,
    slices: Readonly<Record<string, number>>,
    used: CallTokens | undefined,
  ): Promise<NonNullable<LimitCall['done']>> {
    const amounts = used ? await this.#amounts(placed, model, used) : {};
    return placed
      .filter(({ limit }) => isSettled(limit))
      .map(({ place }) => [place, take[place]!, slices[place] ?? 0, amounts[place] ?? 0]);
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
    const claimed = this.#claimed;
    const base = claimed && !call.end && call.take ? { base: await this.#amountsOf(this.spentBefore) } : {};
    const { threadId: thread_id, runId: run_id } = this.run;
    const restore = () => {
      this.#done.unshift(...ended);
    };
    let answer: LimitAnswer;
    try {
      answer = await this.gate.use({ thread_id, run_id, ...call, ...base, ...(done.length > 0 ? { done } : {}) });
    } catch (error) {
      restore();
      throw error;
    }
    if (answer.stale !== undefined) restore();
    else if ('base' in base) this.#claimed = false;
    this.#used = true;
    return answer;
  }

  #places = (model: string): Placed[] => this.gate.places(this.run.tenant, this.#dimensions(model));

  #dimensions(model: string): Dimensions {
    const { tenant, caller, agent, threadId, limitKeys } = this.run;
    const provider = model.includes(':') ? model.slice(0, model.indexOf(':')) : undefined;
    return { ...limitKeys, tenant, key: caller?.replace(/^key:/, ''), agent, thread: threadId, model, provider };
  }

  async #amounts(placed: readonly Placed[], model: string, tokens: CallTokens): Promise<Record<string, number>> {
    const needsPrice = placed.some(({ limit }) => limit.kind === 'money');
    const use = { ...tokens, cost: needsPrice ? await this.price(model, tokens) : undefined };
    return Object.fromEntries(
      placed.map(({ limit, place }) => {
        const amount = amountOf(limit, use);
        if (amount === undefined) throw priceUnknown(model, limit.name);
        return [place, amount];
      }),
    );
  }

  /** What the run has used of each bucket, by what the log says of its models. */
  async #amountsOf(spent: readonly SpentByModel[]): Promise<Record<string, number>> {
    const sums: Record<string, number> = {};
    for (const { model, ...tokens } of spent) {
      const placed = this.#places(model).filter(({ limit }) => isSettled(limit));
      const cost = placed.some(({ limit }) => limit.kind === 'money') ? await this.price(model, tokens) : undefined;
      for (const { limit, place } of placed) {
        // without a price, nothing was reserved either
        const amount = amountOf(limit, { ...tokens, cost }) ?? 0;
        sums[place] = (sums[place] ?? 0) + amount;
      }
    }
    return sums;
  }
}

const isOfProvider = (kind: string, scope: Readonly<Record<string, string>>): boolean =>
  (kind === 'requests' || kind === 'tokens') && ('model' in scope || 'provider' in scope);

const sharesOf = (placed: readonly Placed[], dimensions: Dimensions): Record<string, string> =>
  Object.fromEntries(
    placed.flatMap(({ limit: { share }, place }) => (share === null ? [] : [[place, dimensions[share] ?? '']])),
  );

const nameIn = (place: string): string => place.split(' ')[1]!;

const exhausted = (place: string): LanefoldError =>
  new LanefoldError('budget_exhausted', `The limit ${nameIn(place)} is exhausted.`, {
    hint: 'Raise the limit, or start the run again in its next interval.',
  });

const tooSmall = ({ impossible: place, most }: LimitAnswer, take: Record<string, number>): LanefoldError =>
  new LanefoldError(
    'limit_too_small',
    `A model call needs ${take[place!]} of the limit ${nameIn(place!)}, which is ${most}.`,
    {
      hint: 'Raise the limit, or lower maxOutputTokens of the agent.',
    },
  );

const priceUnknown = (model: string, limit: string): LanefoldError =>
  new LanefoldError('price_unknown', `The price of model ${model} is unknown, and the limit ${limit} is in money.`, {
    hint: 'Limit tokens instead, or use a model whose price is known.',
  });
