import { windowReserve, unknownWindow } from '../../policy/limits.ts';
import type { ContextPolicy } from '../../policy/policy.ts';
import { contextWindow } from './context-windows.ts';

/**
 * A policy with the context window of a model as its limit, for runs on any model: to try a smaller window, or to keep
 * a thread small enough for another model. A run does not need it for its own model, whose window always applies.
 *
 * @param model `provider:model`, no alias
 * @param options `contextWindows` as those of `createLanefold`
 * @throws LanefoldError `unknown_window`
 *
 * @example
 * ```ts
 * import { defineAgent, policyForModel } from 'lanefold';
 *
 * const contextPolicy = { ...(await policyForModel('openai:gpt-4o-mini')), keepLastTurns: 5 };
 * defineAgent({ name: 'support', model: 'scripted:demo', contextPolicy });
 * ```
 */
export async function policyForModel(
  model: string,
  { contextWindows }: { contextWindows?: Record<string, number> } = {},
): Promise<ContextPolicy> {
  const window = await contextWindow(model, contextWindows);
  if (window === undefined) throw unknownWindow(model);
  return { maxInputTokens: window, reserveOutputTokens: windowReserve(window) };
}
