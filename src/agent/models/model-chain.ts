import { LanefoldError, type ErrorCode } from '../../base/errors.ts';
import { refuseUnknownKeys } from '../../base/checks/unknown-keys.ts';
import { camelKeys, snakeKeys } from '../../base/common/case.ts';
import { omitUndefined } from '../../base/common/json.ts';
import type { Json } from '../context/message.ts';
import { fallbackReasons, type FallbackReason } from './fallback-reason.ts';
import type { ModelName } from './providers.ts';

export const stickyChoices = ['run', 'thread', false] as const;
type Sticky = (typeof stickyChoices)[number];

/** The models that may answer, in the order in which they are tried. */
export interface ModelFallback {
  /** 1 to 8 different models: the first one answers unless it fails. */
  try: readonly ModelName[];
  /** The failures of the first model after which the next one is asked; default: all but `limit`. */
  on?: readonly FallbackReason[];
  /** How long a streamed answer may take to begin, in ms: with its first text, thought or tool call. Default: no limit. */
  firstTokenMs?: number;
  /** How long one attempt at one model may take, in ms. Default: no limit. */
  attemptMs?: number;
  /**
   * Which model the next call begins with once another one has answered: `run` (default), the one that answered, until the run
   * ends; `thread`, also in later runs of the lane; `false`, the first.
   */
  sticky?: 'run' | 'thread' | false;
}

/** A model, or several of which each stands in for those before it. */
export type ModelOption = ModelName | readonly ModelName[] | ModelFallback;

/** A model option as it was read: at least one model, all defaults filled in. */
export interface ModelChain {
  models: readonly [ModelName, ...ModelName[]];
  on: readonly FallbackReason[];
  firstTokenMs?: number;
  attemptMs?: number;
  sticky: Sticky;
}

/** What `run.options` keeps of a chain: all but its first model, which is the model of the run. */
export interface StoredFallback {
  models: string[];
  on: FallbackReason[];
  first_token_ms?: number;
  attempt_ms?: number;
  sticky: Sticky;
}

export const mostModels = 8;
/** A day, as for the other time limits of a request. */
export const maxAttemptMs = 86_400_000;

const keys = { try: true, on: true, firstTokenMs: true, attemptMs: true, sticky: true } as const;
const usualReasons: readonly FallbackReason[] = fallbackReasons.filter((reason) => reason !== 'limit');

/**
 * Reads a model option.
 *
 * @param of what has the option, for the error
 * @throws LanefoldError `code`
 */
export function readChain(given: ModelOption, of: string, code: ErrorCode = 'invalid_input'): ModelChain {
  const wrong = (path: string, why: string) =>
    new LanefoldError(code, `${of} is invalid: model${path} ${why}.`, {
      hint: "Name a model, a list of models, or { try: ['provider:model', …] }.",
      details: { field: 'model' },
    });
  if (typeof given === 'string' && given !== '') return { models: [given], on: usualReasons, sticky: 'run' };
  if (typeof given !== 'object' || given === null) throw wrong('', 'is missing');
  const asList = Array.isArray(given);
  const {
    try: models,
    on,
    firstTokenMs,
    attemptMs,
    sticky = 'run',
  } = (asList ? { try: given } : given) as ModelFallback;
  if (!asList) refuseUnknownKeys(`The model of ${of}`, given, keys, code);
  const list = asList ? '' : '.try';
  if (!Array.isArray(models) || models.length < 1 || models.length > mostModels)
    throw wrong(list, `must list 1 to ${mostModels} models`);
  if (!models.every((model) => typeof model === 'string' && model !== ''))
    throw wrong(list, 'must list names of models');
  if (new Set(models).size < models.length) throw wrong(list, 'names a model twice');
  const reasons = on ?? usualReasons;
  if (!Array.isArray(reasons) || !reasons.every((reason) => fallbackReasons.includes(reason as FallbackReason)))
    throw wrong('.on', `must list some of ${fallbackReasons.join(', ')}`);
  for (const [name, ms] of Object.entries({ firstTokenMs, attemptMs }))
    if (ms !== undefined && !(Number.isInteger(ms) && ms >= 1 && ms <= maxAttemptMs))
      throw wrong(`.${name}`, `must be a whole number from 1 to ${maxAttemptMs}`);
  if (!stickyChoices.includes(sticky)) throw wrong('.sticky', "must be 'run', 'thread' or false");
  return {
    models: models as unknown as ModelChain['models'],
    on: fallbackReasons.filter((reason) => reasons.includes(reason)),
    sticky,
    ...omitUndefined({ firstTokenMs, attemptMs }),
  };
}

/** The part of a chain that `run.options` keeps; undefined for a model alone without limits of its attempts. */
export function storedFallback({
  models,
  on,
  sticky,
  firstTokenMs,
  attemptMs,
}: ModelChain): StoredFallback | undefined {
  if (models.length === 1 && firstTokenMs === undefined && attemptMs === undefined) return undefined;
  const limits = omitUndefined({ first_token_ms: firstTokenMs, attempt_ms: attemptMs });
  return { models: models.slice(1), on: [...on], sticky, ...limits };
}

/** A chain as the definition of a version shows it: a model alone by its name. */
export function describedChain(chain: ModelChain): ModelName | Omit<StoredFallback & { try: string[] }, 'models'> {
  const [first] = chain.models;
  const fallback = storedFallback(chain);
  if (!fallback) return first;
  const { models, ...rest } = fallback;
  return { try: [first, ...models], ...rest };
}

/** What a run stores of its models: the first one, and in its options what its agent does not say. */
export const storedModels = (
  chain: ModelChain,
  agentModel: string,
): { model: ModelName; options: { agent_model?: string; fallback?: StoredFallback } } => {
  const [model] = chain.models;
  const fallback = storedFallback(chain);
  return {
    model,
    options: { ...(model === agentModel ? {} : { agent_model: agentModel }), ...(fallback ? { fallback } : {}) },
  };
};

/** A model option that the database has kept, as it was given. */
export const givenModelOption = (stored: Json): ModelOption => renamed(stored, camelKeys) as ModelOption;

/** What names a model, as the database keeps it where it is to be read again, and as it was given. */
export const modelStored = <Named extends { model?: ModelOption }>({ model, ...rest }: Named) => ({
  ...rest,
  ...(model === undefined ? {} : { model: renamed(model, snakeKeys) as Json }),
});
export const modelGiven = <Named extends { model?: Json }>({ model, ...rest }: Named) => ({
  ...rest,
  ...(model === undefined ? {} : { model: givenModelOption(model) }),
});

const renamed = (option: unknown, rename: (value: object) => object): unknown =>
  typeof option === 'object' && option !== null && !Array.isArray(option) ? rename(option) : option;

/** The chain of a run. */
export const chainOf = (model: string, stored: StoredFallback | undefined): ModelChain => ({
  models: [model, ...(stored?.models ?? [])],
  on: stored?.on ?? usualReasons,
  sticky: stored?.sticky ?? 'run',
  ...omitUndefined({ firstTokenMs: stored?.first_token_ms, attemptMs: stored?.attempt_ms }),
});
