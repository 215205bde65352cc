import type { LanguageModelV4FunctionTool } from '@ai-sdk/provider';
import type { Tool } from './tool.ts';

const cache = new WeakMap<readonly Tool[], LanguageModelV4FunctionTool[]>();

/**
 * The tool descriptions sent to the model, in list order. Identical bytes in every call keep prompt caches warm.
 *
 * Cached per list, so a list must not change afterwards (`normaliseTools` freezes its own).
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
