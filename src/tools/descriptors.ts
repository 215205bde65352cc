import type { LanguageModelV4FunctionTool } from '@ai-sdk/provider';
import type { Tool } from './tool.ts';

const cache = new WeakMap<readonly Tool[], LanguageModelV4FunctionTool[]>();

/**
 * What a model is told about the tools, in the order of the list: the same bytes for every call keep prompt caches warm.
 *
 * Made once per list, so do not change a list afterwards (`normaliseTools` freezes its own).
 */
export function describeTools(tools: readonly Tool[]): LanguageModelV4FunctionTool[] {
  let described = cache.get(tools);
  if (!described) cache.set(tools, (described = tools.map(describe)));
  return described;
}

function describe(tool: Tool): LanguageModelV4FunctionTool {
  const { name, description, inputSchema, inputExamples, strict, providerOptions } = tool;
  return {
    type: 'function',
    name,
    ...(description !== undefined && { description }),
    inputSchema,
    ...(inputExamples && { inputExamples }),
    ...(strict !== undefined && { strict }),
    ...(providerOptions && { providerOptions }),
  };
}
