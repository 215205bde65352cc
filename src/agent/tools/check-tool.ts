import { LanefoldError } from '../../base/errors.ts';
import { isToolName } from './acceptable-names.ts';
import type { Tool } from './tool.ts';

export const invalidTool = (name: unknown, why: string, hint?: string, cause?: unknown): LanefoldError =>
  new LanefoldError('invalid_tool', `Tool ${JSON.stringify(name) ?? String(name)} ${why}.`, {
    ...(hint && { hint }),
    ...(cause !== undefined && { cause }),
    details: { name },
  });

const limits = { timeoutMs: 1, maxRetries: 0, retryBackoffMs: 0, maxResultBytes: 1 } as const;

/** Returns the tool unchanged. @throws LanefoldError `invalid_tool` if the runtime or a provider could not use it */
export function checkTool(tool: Tool): Tool {
  const { name, replay } = tool;
  if (typeof name !== 'string' || !isToolName(name))
    throw invalidTool(
      name,
      'has a name that providers reject',
      'Use 1 to 64 letters, digits, underscores and hyphens.',
    );
  if (typeof tool.execute !== 'function')
    throw invalidTool(name, 'has no execute function', 'Add one; Lanefold runs every tool itself.');
  if (typeof tool.validate !== 'function')
    throw invalidTool(name, 'has no validate function', 'Create the tool with defineTool().');
  const verifies = typeof replay === 'object' && replay !== null && typeof replay.verify === 'function';
  if (replay !== 'safe' && replay !== 'never' && !verifies)
    throw invalidTool(name, 'has an invalid replay', "Use 'safe', 'never' or { verify }.");
  if (replay === 'never' && tool.maxRetries)
    throw invalidTool(name, "has retries, but replay: 'never' attempts a call once", 'Remove maxRetries.');
  if (tool.needsApproval !== undefined && !['boolean', 'function'].includes(typeof tool.needsApproval))
    throw invalidTool(name, 'has an invalid needsApproval', 'Use true, false or a function.');
  const type: unknown = tool.inputSchema?.type;
  if (typeof tool.inputSchema !== 'object' || tool.inputSchema === null || (type !== undefined && type !== 'object'))
    throw invalidTool(
      name,
      'has an input schema that does not describe an object',
      'Wrap the input: z.object({ value: ... }).',
    );
  for (const [key, minimum] of Object.entries(limits)) {
    const value = tool[key as keyof typeof limits];
    if (value !== undefined && !(typeof value === 'number' && value >= minimum))
      throw invalidTool(name, `has an invalid ${key}: it must be a number of at least ${minimum}`);
  }
  return tool;
}
