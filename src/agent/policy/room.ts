import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { JsonObject } from '../context/message.ts';
import { limitsOf, type Limits } from './limits.ts';
import type { StoredPolicy } from './policy.ts';

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
