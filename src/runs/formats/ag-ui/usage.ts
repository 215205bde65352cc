import { type Json, type Usage, addUsage } from '../../../agent/context/message.ts';
import type { AgUiUsage } from './event.ts';

/** The tokens of a segment, by model. */
export class UsageByModel {
  readonly #of = new Map<string, Usage>();

  add(model: Json | undefined, usage: Json | undefined): void {
    if (typeof model !== 'string' || typeof usage !== 'object' || usage === null) return;
    this.#of.set(model, addUsage(this.#of.get(model), usage as Usage));
  }

  clear(): void {
    this.#of.clear();
  }

  list(): { usage?: AgUiUsage[] } {
    const usage = [...this.#of].map(([model, used]) => toAgUiUsage(model, used));
    return usage.length > 0 ? { usage } : {};
  }
}

/** @param model `provider:model` */
function toAgUiUsage(name: string, usage: Usage): AgUiUsage {
  const [provider, ...model] = name.split(':');
  const { input_tokens: inputTokens, output_tokens: outputTokens } = usage;
  const optional = {
    reasoningTokens: usage['reasoning_tokens'],
    cachedInputTokens: usage['cache_read_tokens'],
    cacheWriteInputTokens: usage['cache_write_tokens'],
  };
  return {
    ...(model.length > 0 ? { provider: provider!, model: model.join(':') } : { model: name }),
    ...{ inputTokens, outputTokens, totalTokens: inputTokens + outputTokens },
    ...Object.fromEntries(Object.entries(optional).filter(([, count]) => count !== undefined)),
  };
}
