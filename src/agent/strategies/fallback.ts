import type { Json, JsonObject } from '../context/message.ts';
import { fallbackReasons, type FallbackReason } from '../models/fallback-reason.ts';
import type { ModelChain } from '../models/model-chain.ts';
import type { Attempt, RunFacts, StrategyEvent } from './machine.ts';

/** Where a call is in the chain of its run. Stored with the state, so that the next worker asks the same model. */
export interface ChainPlace {
  /** The model that is asked. */
  at: number;
  /** The model with which this round through the chain began. */
  from: number;
  /** Set once a model of this round may answer later: the shortest wait that such a model asked for, in ms; 0: the usual one. */
  wait_ms?: number;
  /** The next call begins with the model that answered this one. */
  stays?: true;
}

type Failed = Extract<StrategyEvent, { type: 'model_failed' }>;

/** What follows a failed attempt. */
export interface NextAttempt {
  place: ChainPlace | undefined;
  retries: number;
  delayMs: number;
  /** It asks another model of the same round. */
  passes: boolean;
}

type Facts = Pick<RunFacts, 'model' | 'chain' | 'chainStart' | 'maxModelRetries' | 'waited'>;

/** The place of the first call of a run; undefined: the first model. */
export const firstPlace = ({ chain, chainStart = 0 }: Facts): ChainPlace | undefined =>
  chain && chainStart > 0 && chainStart < chain.models.length
    ? { at: chainStart, from: chainStart, stays: true }
    : undefined;

/** The place of the call that follows an answered one. */
export const placeAfter = (place: ChainPlace | undefined): ChainPlace | undefined =>
  place?.stays && place.at > 0 ? { at: place.at, from: place.at, stays: true } : undefined;

/**
 * Where an interrupted call continues: at the same model. A run that has waited until it may call a model begins the round again,
 * because any model of the round may answer by now.
 */
export function placeAgain({ waited }: Facts, place: ChainPlace | undefined): ChainPlace | undefined {
  if (!waited || !place) return place;
  return place.from > 0 ? { at: place.from, from: place.from, stays: true } : undefined;
}

/** The model that is asked at a place. */
export const modelAt = ({ model, chain }: Pick<Facts, 'model' | 'chain'>, place: ChainPlace | undefined): string =>
  chain?.models[place?.at ?? 0] ?? model;

/** For a command: the model that is asked, if it is not the run's. */
export function askedModel(run: Facts, place: ChainPlace | undefined): Pick<Attempt, 'model'> {
  const model = modelAt(run, place);
  return model === run.model ? {} : { model };
}

/** For a command: the model that is asked, and the failures after which another one can be asked. */
export function asking(run: Facts, place: ChainPlace | undefined): Attempt {
  const { chain } = run;
  const passesOn = fallbackReasons.filter((reason) => chain && mayPass(chain, place, reason));
  const others = chain && nextOf(chain, place) !== undefined;
  return { ...askedModel(run, place), ...(others ? { passesOn } : {}) };
}

/**
 * What follows a failed attempt; undefined: the call has failed. A round asks each model of the chain once, in its order,
 * without a wait: from the first model of the round only after the failures that the chain names, from a model that stands
 * in after any. Once a round is through, and one of its models may answer later, the next round begins with the first model,
 * after a wait.
 */
export function afterFailure(
  run: Facts,
  place: ChainPlace | undefined,
  retries: number,
  failed: Pick<Failed, 'retryable' | 'retryAfterMs' | 'reason'>,
): NextAttempt | undefined {
  const { chain } = run;
  if (!chain || !mayPass(chain, place, failed.reason)) {
    const delayMs = retryDelay(run, retries, failed);
    return delayMs === undefined ? undefined : { place, retries: retries + 1, delayMs, passes: false };
  }
  const stays = chain.sticky === false ? {} : { stays: true as const };
  const waitMs = shortest(place?.wait_ms, failed.retryable ? (failed.retryAfterMs ?? 0) : undefined);
  const at = nextOf(chain, place);
  if (at !== undefined) {
    const wait = waitMs === undefined ? {} : { wait_ms: waitMs };
    return { place: { at, from: place?.from ?? 0, ...wait, ...stays }, retries, delayMs: 0, passes: true };
  }
  if (waitMs === undefined) return undefined;
  const delayMs = retryDelay(run, retries, { retryable: true, retryAfterMs: waitMs });
  return delayMs === undefined ? undefined : { place: undefined, retries: retries + 1, delayMs, passes: false };
}

/** The model after that of a place, until the round is through. */
function nextOf({ models }: ModelChain, place: ChainPlace | undefined): number | undefined {
  const { at = 0, from = 0 } = place ?? {};
  const next = (at + 1) % models.length;
  return next === from ? undefined : next;
}

const mayPass = ({ on }: ModelChain, place: ChainPlace | undefined, reason: FallbackReason | undefined): boolean =>
  (place !== undefined && place.at !== place.from) || (reason !== undefined && on.includes(reason));

const shortest = (one: number | undefined, other: number | undefined): number | undefined =>
  one === undefined || other === undefined ? (one ?? other) : Math.min(one, other);

const firstDelayMs = 500;
const maxDelayMs = 30_000;
/**
 * The longest `retryAfterMs` that is waited for: a waiting run holds its thread and its worker. Beyond this, the caller
 * decides when to try again.
 */
const maxRetryAfterMs = 60_000;

/** Delay before a failed call is retried, in ms; undefined if it is not retried. */
export function retryDelay(
  run: Pick<RunFacts, 'maxModelRetries'>,
  retries: number,
  { retryable, retryAfterMs }: Pick<Failed, 'retryable' | 'retryAfterMs'>,
): number | undefined {
  if (!retryable || retries >= run.maxModelRetries || (retryAfterMs ?? 0) > maxRetryAfterMs) return undefined;
  // a provider that asks for no wait at all gets the usual one
  return retryAfterMs || Math.min(firstDelayMs * 2 ** retries, maxDelayMs);
}

/** What the event of a failed attempt says of it: its error, its model and the next one, and what it had written. */
export const attemptFacts = (
  run: Facts,
  place: ChainPlace | undefined,
  { error, reason, written }: Pick<Failed, 'error' | 'reason' | 'written'>,
  next: Pick<NextAttempt, 'place' | 'retries' | 'delayMs'>,
  attempt: number,
): Record<string, Json> => {
  const chained: JsonObject = run.chain
    ? { model: modelAt(run, place), next_model: modelAt(run, next.place), ...(reason ? { reason } : {}) }
    : {};
  return {
    attempt,
    delay_ms: next.delayMs,
    error: { ...error },
    ...chained,
    ...(written ? { written: { ...written } } : {}),
  };
};

/** Whether the event of a failed attempt is followed by another model at once, which is no retry: `run_marks` counts alike. */
export const goesOn = ({ model, next_model: next, delay_ms: delayMs }: JsonObject): boolean =>
  next !== undefined && next !== model && delayMs === 0;

/** The error of a run whose call has failed for good. */
export const lastError = (run: Facts, place: ChainPlace | undefined, { error }: Pick<Failed, 'error'>) =>
  run.chain && place && place.at !== place.from
    ? { ...error, message: `No model of the chain answered. The last one, ${modelAt(run, place)}: ${error.message}` }
    : error;
