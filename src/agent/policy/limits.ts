import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import { LanefoldError } from '../../base/errors.ts';
import type { StoredPolicy } from './policy.ts';

/** The limits of a policy for one model. */
export interface Limits {
  /** Maximum tokens of the request; null: no limit. */
  budget: number | null;
  /** Tokens beyond which the model rejects the request, whatever the policy keeps; null: unknown. */
  ceiling: number | null;
  /** Identifies the policy and its limits in `refs.policy_hash`: hex SHA-256. */
  hash: string;
}

/**
 * The limits of a policy for a model.
 *
 * @param window tokens of the model's context window; undefined: unknown
 * @param maxOutputTokens the limit of the answer in the settings of the call
 * @throws LanefoldError `unknown_window` where the policy demands a window
 */
export function limitsOf(
  policy: StoredPolicy,
  {
    model,
    window,
    maxOutputTokens,
  }: { model: string; window: number | undefined; maxOutputTokens?: number | undefined },
): Limits {
  const { max_input_tokens: given, reserve_output_tokens: reserve } = policy;
  if (given === 'window' && window === undefined) throw unknownWindow(model);
  const ofWindow =
    window === undefined ? null : window - below(window, reserve ?? maxOutputTokens ?? windowReserve(window));
  const ofPolicy = typeof given === 'number' ? given - below(given, reserve ?? Math.min(2_000, third(given))) : null;
  const limits = {
    budget: ofPolicy === null ? (given === null ? null : ofWindow) : Math.min(ofPolicy, ofWindow ?? ofPolicy),
    ceiling: ofWindow,
  };
  return { ...limits, hash: sha256(canonicalize({ ...policy, ...limits }) as string) };
}

const third = (tokens: number): number => Math.floor(tokens / 3);
/** The part of a window reserved for the answer, unless policy or settings say otherwise. */
export const windowReserve = (window: number): number => Math.min(32_000, Math.floor(window / 8));

/**
 * What a limit leaves after the reserve. A reserve that would leave nothing, such as one for long answers on a small
 * model, takes only half.
 */
const below = (limit: number, reserve: number): number => (reserve < limit ? reserve : Math.floor(limit / 2));

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

export const unknownWindow = (model: string): LanefoldError =>
  new LanefoldError(
    'unknown_window',
    `The context window of the model ${model} is unknown, but the context policy requires it.`,
    {
      hint: 'Pass contextWindows: { "provider:model": tokens } to createLanefold or defineLanefold, or give the policy maxInputTokens.',
      details: { model },
    },
  );
