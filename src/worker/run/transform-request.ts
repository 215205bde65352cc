import type { ReadyAgent } from '../../agent/definition/registry.ts';
import type { ModelRequest, TransformedRequest, TransformerContext } from '../../agent/definition/transformer.ts';
import { canonicalMessage } from '../../agent/context/canonical.ts';
import { type Message, openGroupAt } from '../../agent/context/message.ts';
import { isLanefoldError } from '../../base/errors.ts';
import { checkSettings, mergeSettings, toCallSettings, type ModelSettings } from '../../agent/models/settings.ts';
import { ModelError } from '../../agent/models/model-error.ts';
import { toPrompt } from '../../agent/models/prompt.ts';
import type { ModelRegistry } from '../../agent/models/registry.ts';
import { assertStorable } from '../../base/checks/values.ts';
import { runAttempt } from '../../agent/tools/execute.ts';
import type { Claim } from '../../database/store/run/claim-run.ts';
import type { HeldRun } from './held-run.ts';

/** A request before or after its transformer. */
export interface DraftRequest {
  model: string;
  messages: readonly Message[];
  settings: ModelSettings;
  tools: string[];
  /** The transformer changed it. */
  transformed?: true;
}

export const transformerContext = (
  run: HeldRun,
  agent: ReadyAgent,
  claim: Claim,
  iteration: number,
): TransformerContext => ({
  threadId: run.threadId,
  runId: run.runId,
  requestId: claim.request_id,
  agent: agent.name,
  iteration,
  context: structuredClone({ ...agent.toolContext, ...claim.options?.tool_context }),
  state: structuredClone(claim.thread_state),
  signal: run.signal,
});

/**
 * Applies the request transformer of an agent and validates its result. The transformer works on copies, for at most
 * `timeoutMs`.
 *
 * @throws ModelError `request_transform`; or the signal's reason as soon as that aborts
 */
export async function transformRequest(
  transformer: NonNullable<ReadyAgent['requestTransformer']>,
  models: ModelRegistry,
  draft: DraftRequest,
  context: TransformerContext,
  timeoutMs: number,
): Promise<DraftRequest> {
  const { signal } = context;
  const request: ModelRequest = structuredClone({
    model: draft.model,
    messages: [...draft.messages],
    settings: toCallSettings(draft.settings),
    tools: draft.tools,
  });
  try {
    const start = (own: AbortSignal) => transformer(request, { ...context, signal: own });
    const answer = await runAttempt(start, timeoutMs, signal, 'The request transformer');
    return applied(models, draft, answer as Awaited<ReturnType<typeof transformer>>);
  } catch (error) {
    signal.throwIfAborted();
    throw failed(error);
  }
}

function applied(
  models: ModelRegistry,
  draft: DraftRequest,
  answer: TransformedRequest | undefined | void,
): DraftRequest {
  if (answer === undefined || answer === null) return draft;
  if (typeof answer !== 'object') throw new Error('It returned a value that is not an object.');
  const { model, messages, settings, tools } = answer;
  if (model == null && messages == null && settings == null && tools == null) return draft;
  if (model != null) models.check(model);
  return {
    model: model ?? draft.model,
    messages: messages == null ? draft.messages : checkedMessages(messages),
    settings: settings == null ? draft.settings : mergeSettings(draft.settings, checkedSettings(settings)),
    tools: tools == null ? draft.tools : checkedTools(tools, draft.tools),
    transformed: true,
  };
}

const roles = new Set<unknown>(['system', 'user', 'assistant', 'tool']);

function checkedMessages(messages: Message[]): Message[] {
  if (!Array.isArray(messages)) throw new Error('Its messages are not a list.');
  assertStorable(messages, 'Its messages');
  const strange = messages.findIndex((message) => !roles.has((message as Message | null)?.role));
  if (strange >= 0) throw new Error(`Its message ${strange} has no valid role.`);
  const canonical = messages.map(canonicalMessage);
  toPrompt(canonical);
  const open = openGroupAt(canonical);
  if (open >= 0)
    throw new Error(`Its message ${open} has a tool call without a result, or is a result without a call.`);
  return canonical;
}

function checkedSettings(settings: object): ModelSettings {
  const checked = checkSettings(settings);
  if (!checked.fault) return checked.settings;
  const { path, why } = checked.fault;
  throw new Error(`Its settings are invalid: ${path && `${path} `}${why}`);
}

function checkedTools(tools: string[], given: readonly string[]): string[] {
  if (!Array.isArray(tools)) throw new Error('Its tools are not a list of names.');
  const unknown = tools.filter((name) => !given.includes(name));
  if (unknown.length > 0) throw new Error(`It adds tools the run does not have: ${unknown.join(', ')}.`);
  return tools;
}

const failed = (error: unknown): ModelError => {
  const message = error instanceof Error ? error.message : String(error);
  const hint = isLanefoldError(error) && error.hint ? ` ${error.hint}` : '';
  return new ModelError(`The request transformer failed: ${message}${hint}`, {
    errorType: 'request_transform',
    retryable: false,
  });
};
