import { createHash } from 'node:crypto';
import type { LanguageModelV4FunctionTool, LanguageModelV4Prompt } from '@ai-sdk/provider';
import { toolsOnly } from '../../agent/definition/apply-overrides.ts';
import type { ReadyAgent } from '../../agent/definition/registry.ts';
import type { JsonObject, Message } from '../../agent/context/message.ts';
import type { ModelSettings } from '../../agent/models/settings.ts';
import { type ContextRoom, limitsWithin, loggedRoom, roomAfter, type StoredPolicy } from '../../agent/policy/policy.ts';
import type { Attempt } from '../../agent/strategies/machine.ts';
import type { Claim } from '../../database/store/run/claim-run.ts';
import type { HeldRun } from './held-run.ts';
import { RunContext } from './context.ts';
import type { RunDependencies } from './dependencies.ts';
import { fitContext, type FittedContext, defaultPolicy, limitsFor } from './fit-context.ts';
import { transformRequest, transformerContext } from './transform-request.ts';
import { cutContext } from '../../agent/models/cut-context.ts';
import type { TooLong } from '../../agent/models/model-error.ts';

/**
 * Whether a call leaves out different messages than the previous call on its lane, by what the log records of both. If
 * so, the provider's cache ends where they differ.
 */
function cutMoved(before: JsonObject | null, now: JsonObject | undefined): boolean {
  const differs = (key: string) => JSON.stringify(before?.[key] ?? null) !== JSON.stringify(now?.[key] ?? null);
  return differs('dropped') || (differs('kinds') && [before, now].some((refs) => refs?.['kinds_cut'] === true));
}

/** A model call ready to be made, with what the log records about it. */
export interface PreparedCall {
  model: string;
  prompt: LanguageModelV4Prompt;
  /** The messages of the prompt. */
  messages: readonly Message[];
  tools: LanguageModelV4FunctionTool[];
  settings: ModelSettings;
  /** Hash of the messages as sent. */
  contextHash: string;
  refs?: JsonObject;
  /** Tokens of the request by the heuristic, where the request has a budget. */
  estimated?: number;
  /** What was left of the context: its messages, and its tokens as the policy counts them, where it has a budget. */
  fitted: { messages: number; tokens: number | undefined };
  /** The tools of this turn, if they are fewer than the run's. */
  narrowed?: string[];
}

/** Prepares the next model call: applies the context policy, then the request transformer. */
export async function prepareCall(
  { models, counting }: Pick<RunDependencies, 'models' | 'counting'>,
  run: HeldRun,
  agent: ReadyAgent,
  claim: Claim,
  context: RunContext,
  { iteration, room, ...attempt }: { iteration: number; room?: ContextRoom } & Attempt,
): Promise<PreparedCall> {
  const asked = askedOf(claim, attempt);
  const { model } = asked;
  const fitted = await fit(counting, agent, asked, context, room);
  const own = fitted?.sent ?? context;
  const moved = cutMoved(context.answerRefs, fitted?.refs);
  const refs = {
    ...fitted?.refs,
    ...(moved ? { cut_moved: true } : {}),
    ...(agent.output ? { output_hash: sha256(agent.output.instructions) } : {}),
  };
  const plain = async () => {
    const { prompt, hash: contextHash, ...mark } = await requestOf(models, own, model);
    const marked = { ...refs, ...mark, ...answeredBy(claim, model, attempt) };
    return {
      model,
      prompt,
      messages: own.messages,
      tools: agent.descriptors,
      settings: agent.settings,
      contextHash,
      fitted: keptOf(own, fitted),
      ...(Object.keys(marked).length > 0 ? { refs: marked } : {}),
      ...(fitted ? { estimated: fitted.estimated } : {}),
    };
  };
  const { requestTransformer: transformer } = agent;
  if (!transformer) return plain();
  const draft = {
    model,
    messages: own.messages,
    settings: agent.settings,
    tools: [...agent.tools.keys()],
  };
  const request = await transformRequest(
    transformer,
    models,
    draft,
    transformerContext(run, agent, claim, iteration),
    agent.toolTimeoutMs,
  );
  if (!request.transformed) return plain();
  const sent = request.messages === draft.messages ? own : new RunContext(request.messages, context.instructions);
  const { prompt, hash: contextHash, ...mark } = await requestOf(models, sent, request.model);
  return {
    model: request.model,
    settings: request.settings,
    tools: toolsOnly(agent, request.tools).descriptors,
    prompt,
    messages: sent.messages,
    contextHash,
    fitted: keptOf(own, fitted),
    refs: { transformed: true, ...refs, ...mark, ...answeredBy(claim, request.model, attempt) },
    ...(request.tools.length === agent.tools.size ? {} : { narrowed: request.tools }),
  };
}

/** The model that a call asks, with what else decides how a context fits it. */
export const askedOf = ({ model, created_at }: Pick<Claim, 'model' | 'created_at'>, attempt: Attempt) => ({
  model: attempt.model ?? model,
  created_at,
});

/** For the log: the model of an answer, if it is not the run's, and whether it stands in for the models before it. */
const answeredBy = ({ model: own }: Claim, model: string, attempt: Attempt): JsonObject => ({
  ...(model === own ? {} : { model }),
  ...(model === attempt.model ? { fallback: true } : {}),
});

/** The request to a model, with the mark for the log if it does not send the messages as they are. */
async function requestOf(models: RunDependencies['models'], context: RunContext, model: string) {
  const { prompt, hash, sentAs } = context.requestIn(await models.dialect(model));
  return { prompt, hash, ...(sentAs ? { sent_as: sentAs as unknown as JsonObject } : {}) };
}

const keptOf = ({ messages }: RunContext, fitted: FittedContext | undefined): PreparedCall['fitted'] => ({
  messages: messages.length,
  tokens: fitted?.refs['estimated_tokens'] as number | undefined,
});

const fit = (
  counting: RunDependencies['counting'],
  agent: ReadyAgent,
  asked: ReturnType<typeof askedOf>,
  context: RunContext,
  own: ContextRoom | undefined,
) =>
  fitContext(counting, context, {
    room: roomOf(counting, context, asked, own),
    model: asked.model,
    policy: agent.contextPolicy,
    tools: agent.descriptors,
    maxOutputTokens: agent.settings.max_output_tokens,
  });

/** Whether a call would drop messages that its policy wants summarised instead. */
export async function wantsSummary(
  { counting }: Pick<RunDependencies, 'counting'>,
  agent: ReadyAgent,
  asked: ReturnType<typeof askedOf>,
  context: RunContext,
  room?: ContextRoom,
): Promise<boolean> {
  if (agent.contextPolicy?.summarization !== 'request_new') return false;
  return (await fit(counting, agent, asked, context, room))?.overBudget === true;
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

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
