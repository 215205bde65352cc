import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import { LanefoldError } from '../../base/errors.ts';
import type { JsonObject } from '../context/message.ts';
import type { ContentKind, ContextPolicy, PolicyPreset } from './types.ts';

/** A policy as it is stored and sent: in snake_case, with presets expanded and fixed defaults filled in. */
export interface StoredPolicy {
  max_input_tokens?: number | 'window' | null;
  reserve_output_tokens?: number;
  max_messages: number;
  keep_last_turns: number;
  summarization: 'none' | 'use_existing' | 'request_new';
  compact_at?: number;
  summary_role: 'system' | 'user';
  include_kinds: ContentKind[];
  system_prompt?: string;
  token_estimator: string;
  projector?: string;
}

export const allKinds: readonly ContentKind[] = ['message', 'tool_call', 'tool_result', 'summary'];

const defaults: StoredPolicy = {
  max_messages: 0,
  keep_last_turns: 3,
  summarization: 'use_existing',
  summary_role: 'system',
  include_kinds: [...allKinds],
  token_estimator: 'calibrated',
};

export const presets: Readonly<Record<PolicyPreset, ContextPolicy>> = {
  /** The policy of a run without one: it sends what it can and drops the oldest turns when the window is full. */
  window: { keepLastTurns: 1, summaryRole: 'user' },
  short_context: { maxInputTokens: 6_000, keepLastTurns: 2 },
  long_context: { maxInputTokens: 100_000, keepLastTurns: 10, maxMessages: 0 },
  tool_focused: { keepLastTurns: 5, includeKinds: ['message', 'tool_call', 'tool_result'], summarization: 'none' },
};

/** The stored form of fields in snake_case that `readPolicy` has checked. */
export const withDefaults = (fields: Partial<StoredPolicy>): StoredPolicy => ({ ...defaults, ...fields });

/** The limits of a policy for one model. */
export interface Limits {
  /** Maximum tokens of the request; null: no limit. */
  budget: number | null;
  /** Tokens beyond which the model rejects the request, even if the policy would keep more; null: unknown. */
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

/** What the refusal of a request as too long has shown about a model. */
export interface ContextRoom {
  /** `provider:model` */
  model: string;
  /** The most tokens of a request, by our estimate. */
  tokens: number;
  /** Tokens of the window, if the provider said it. */
  window?: number;
  /** When the run was accepted that learnt it, by the clock of the database. */
  learnt_at: string;
}

/** How long runs on the lane go by it. A server that is started again may have another window. */
const lastsMs = 7 * 86_400_000;

/** A guess, where the provider does not say how much the model takes: it has to be low, because the next call is the last. */
const share = 0.5;

/**
 * What later requests may have after one of `estimated` tokens was refused.
 *
 * @param said by the provider, in its own tokens
 */
export function roomAfter(
  said: { window?: number; requested?: number; answer?: number },
  {
    policy,
    model,
    estimated,
    maxOutputTokens = 0,
  }: { policy: StoredPolicy; model: string; estimated: number; maxOutputTokens?: number | undefined },
): Pick<ContextRoom, 'tokens' | 'window'> {
  const { window, requested, answer = 0 } = said;
  const guess = Math.floor(estimated * share);
  if (window === undefined) return { tokens: guess };
  const reserve = Math.max(maxOutputTokens, answer) || undefined;
  const { ceiling } = limitsOf({ ...policy, max_input_tokens: null }, { model, window, maxOutputTokens: reserve });
  // the provider may count more tokens than we do
  const ratio = requested === undefined ? 1 : Math.min(1, estimated / requested);
  const tokens = Math.floor(ceiling! * ratio);
  return { tokens: tokens < estimated ? tokens : guess, window };
}

/** The limits of a policy in the room of the model. */
export function limitsWithin(limits: Limits, policy: StoredPolicy, room: ContextRoom | undefined): Limits {
  if (!room) return limits;
  const budget = Math.min(limits.budget ?? Infinity, room.tokens);
  const ceiling = Math.min(limits.ceiling ?? Infinity, room.tokens);
  if (budget === limits.budget && ceiling === limits.ceiling) return limits;
  const hash = createHash('sha256')
    .update(canonicalize({ ...policy, budget, ceiling }) as string)
    .digest('hex');
  return { budget, ceiling, hash };
}

/** The room that the last answer of a lane records, unless it is of another model, or old by the time of this run. */
export function loggedRoom(refs: JsonObject | null, model: string, at: string | Date): ContextRoom | undefined {
  const room = refs?.['room'] as unknown as ContextRoom | undefined;
  if (room?.model !== model || !(room.tokens > 0)) return undefined;
  return new Date(at).getTime() - new Date(room.learnt_at).getTime() < lastsMs ? room : undefined;
}
