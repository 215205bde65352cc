import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import type { ModelRegistryOptions } from '../../../agent/models/registry/registry.ts';

/** The models of the campaign's provider, as `provider:plain` and `provider:odd`. It is told which process calls it. */
export function providerModels(url: string): NonNullable<ModelRegistryOptions['models']> {
  const headers = { 'x-chaos-pid': String(process.pid) };
  const provider = createOpenAICompatible({ name: 'provider', baseURL: url, includeUsage: true, headers });
  return { provider: (id) => provider(id) };
}

/** The headers of a run's calls, which name its thread in the provider's log. */
export const headersOf = (threadId: string): Record<string, string> => ({ 'x-chaos-thread': threadId });
