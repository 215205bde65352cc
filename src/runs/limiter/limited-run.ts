import type { Dimensions } from '../../agent/limits/dimensions.ts';
import type { WaitingJob, Take } from '../../database/store/limit/use-limits.ts';
import { amountOf, isSettled, type CallUse } from '../../agent/limits/limit.ts';
import type { Usage } from '../../agent/context/message.ts';
import type { Counting } from '../../agent/models/counting.ts';
import { spentOf, type SpentByModel } from '../../database/store/run/spent.ts';
import type { Placed } from './gate.ts';
import { priceUnknown } from './refusals.ts';

/** What limits need to know of a run. */
export interface LimitedRun {
  threadId: string;
  runId: string;
  tenant: string;
  agent: string;
  /** Its own model; single calls may use another one. */
  model: string;
  /** The API key that started it. */
  caller: string | null;
  limitKeys: Readonly<Record<string, string>>;
  /** When it was accepted: its place in line. */
  createdAt: string;
  priority: number;
  job: WaitingJob;
}

/** The job of a run while it waits, of what is known of the run. */
export const waitingJob = (
  { name, prefix }: { name: string; prefix: string },
  { agent, enqueue_no }: { agent: string; enqueue_no: number },
  { version, strategy }: { version?: string | undefined; strategy?: string | undefined },
): WaitingJob => ({
  queue: name,
  prefix,
  enqueue_no,
  agent,
  ...(version === undefined ? {} : { version }),
  ...(strategy === undefined ? {} : { strategy }),
});

/** The values that limits may apply to, for calls of `model`. */
export function dimensionsOf(
  { tenant, caller, agent, threadId, limitKeys }: Omit<LimitedRun, 'runId' | 'createdAt' | 'priority' | 'job'>,
  model: string,
): Dimensions {
  const provider = model.includes(':') ? model.slice(0, model.indexOf(':')) : undefined;
  return { ...limitKeys, tenant, key: caller?.replace(/^key:/, ''), agent, thread: threadId, model, provider };
}

/** The tokens of a call, counted before it or by its provider. */
export type CallTokens = Pick<CallUse, 'inputTokens' | 'outputTokens'> & {
  cachedTokens?: number;
  writtenTokens?: number;
};

/** What an answer is taken to have at most where neither agent nor request sets `maxOutputTokens`. */
export const usualOutputTokens = 4_096;

/** The price of calls to a model in US dollars; undefined: unknown. */
export type Price = (model: string, tokens: CallTokens & { calls?: number }) => Promise<number | undefined>;

/**
 * What a call uses of the limits that apply to it.
 *
 * @throws LanefoldError `price_unknown`
 */
export async function takeOf(
  placed: readonly Placed[],
  model: string,
  tokens: CallTokens,
  price: Price,
): Promise<(readonly [place: string, amount: number])[]> {
  const use = { ...tokens, cost: await costOf(placed, model, tokens, price) };
  return placed.map(({ limit, place }) => {
    const amount = amountOf(limit, use) ?? (limit.onExhausted === 'notice' ? 0 : undefined);
    if (amount === undefined) throw priceUnknown(model, `the limit ${limit.name}`);
    return [place, amount];
  });
}

/** What a run has used by now. */
export interface RunUse {
  model: string;
  iteration: number;
  usage?: Usage | null | undefined;
  otherUsage?: Record<string, Usage> | null | undefined;
}

export const spentBy = (
  { createdAt }: Pick<LimitedRun, 'createdAt'>,
  { model, iteration, usage, otherUsage }: RunUse,
): SpentByModel[] =>
  spentOf({ model, createdAt: new Date(createdAt), iteration, usage: usage ?? null, otherUsage: otherUsage ?? null });

/** What runs have used of each bucket, by what the log says of their models. */
export async function usedBy(
  spent: readonly SpentByModel[],
  placesOf: (model: string) => readonly Placed[],
  price: Price,
): Promise<Record<string, number>> {
  const sums: Record<string, number> = {};
  for (const { model, ...tokens } of spent) {
    const placed = placesOf(model).filter(({ limit }) => isSettled(limit));
    const cost = await costOf(placed, model, tokens, price);
    for (const { limit, place } of placed) {
      // without a price, nothing was reserved either
      sums[place] = (sums[place] ?? 0) + (amountOf(limit, { ...tokens, cost }) ?? 0);
    }
  }
  return sums;
}

/** The values of the sharing dimensions, by place. */
export const sharesOf = (placed: readonly Placed[], dimensions: Dimensions): Record<string, string> =>
  Object.fromEntries(
    placed.flatMap(({ limit: { shareBy }, place }) => (shareBy === null ? [] : [[place, dimensions[shareBy] ?? '']])),
  );

/** Prices as of the day a run was accepted, as in its cost. */
export const priceAt =
  (counting: Pick<Counting, 'priceOf'>, at: Date): Price =>
  (model, tokens) =>
    counting.priceOf(model, { calls: 1, cachedTokens: 0, writtenTokens: 0, ...tokens }, at);

/** The amount of a place in a `take`. */
export const amountAt = (take: Take, place: string): number => take.find(([one]) => one === place)?.[1] ?? 0;

/** Looks a price up only where money is limited: the table of prices takes time to load. */
const costOf = async (
  placed: readonly Placed[],
  ...[model, tokens, price]: [string, CallTokens, Price]
): Promise<number | undefined> =>
  placed.some(({ limit }) => limit.kind === 'money') ? price(model, tokens) : undefined;
