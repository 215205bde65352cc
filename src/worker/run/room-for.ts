import type { ReadyAgent } from '../../agent/definition/registry.ts';
import { cutContext } from '../../agent/models/counting/cut-context.ts';
import type { TooLong } from '../../agent/models/errors/context-too-long.ts';
import { limitsWithin, loggedRoom, roomAfter, type ContextRoom } from '../../agent/policy/room.ts';
import type { StoredPolicy } from '../../agent/policy/policy.ts';
import type { Claim } from '../../database/store/run/claim-run.ts';
import type { RunContext } from './context.ts';
import type { RunDependencies } from './dependencies.ts';
import { defaultPolicy, limitsFor } from './fit-context.ts';

type Counting = RunDependencies['counting'];

const unlimited = { budget: null, ceiling: null, hash: '' };

/**
 * The room that a run's model has after it refused a request as too long. Undefined if no shorter request is possible:
 * nothing can be left out, or what has to stay is too long as well.
 *
 * @param sent what was refused: its messages, and its tokens if it had a budget
 */
export async function roomFor(
  counting: Counting,
  context: RunContext,
  { contextPolicy = defaultPolicy, descriptors: tools, settings }: ReadyAgent,
  { model, created_at: learntAt }: Pick<Claim, 'model' | 'created_at'>,
  said: TooLong,
  sent: { messages: number; tokens: number | undefined },
): Promise<ContextRoom | undefined> {
  const { window: ofModel, answer } = said;
  // the limit of the answer alone is too high
  if (ofModel !== undefined && answer !== undefined && answer >= ofModel) return undefined;
  // a projector chooses for the call itself, and may not be asked for another
  const { projector: _, ...policy }: StoredPolicy = contextPolicy;
  const maxOutputTokens = settings.max_output_tokens;
  const counter = await counting.counterOf(policy.token_estimator, model);
  const recalled = { dropped: [], tokens: new WeakMap() };
  const cutTo = (limits: typeof unlimited | ReturnType<typeof limitsWithin>) =>
    cutContext(counting, context.placed, { model, policy, limits, tools, ...instructed(context) }, counter, recalled);
  const whole = await cutTo(unlimited);
  const estimated = sent.tokens ?? whole.tokens.reduce((sum, tokens) => sum + tokens, whole.toolTokens);
  const room = { model, ...roomAfter(said, { policy, model, estimated, maxOutputTokens }), learnt_at: learntAt };
  const window = await counting.windowOf(model);
  const cut = await cutTo(limitsWithin(limitsFor(policy, { model, window, maxOutputTokens }), policy, room));
  const shorter = cut.included.filter(Boolean).length < sent.messages;
  return shorter && !(cut.meta.over_budget && room.window !== undefined) ? room : undefined;
}

/** The room to go by: what this run has learnt, else what the lane's last answer records, unless the window is configured. */
export function roomOf(
  counting: Counting,
  context: RunContext,
  { model, created_at: at }: Pick<Claim, 'model' | 'created_at'>,
  own: ContextRoom | undefined,
): ContextRoom | undefined {
  if (own?.model === model) return own;
  return counting.isConfigured(model) ? undefined : loggedRoom(context.answerRefs, model, at);
}

const instructed = ({ instructions }: RunContext) => (instructions === undefined ? {} : { instructions });
