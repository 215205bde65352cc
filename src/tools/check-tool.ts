import { LanefoldError } from '../errors.ts';
import type { Tool } from './tool.ts';

export const invalidTool = (name: unknown, why: string, hint?: string, cause?: unknown): LanefoldError =>
  new LanefoldError('invalid_tool', `Tool ${JSON.stringify(name) ?? String(name)} ${why}.`, {
    ...(hint && { hint }),
    ...(cause !== undefined && { cause }),
    details: { name },
  });

// What every provider accepts; some allow more.
const namePattern = /^[A-Za-z0-9_-]{1,64}$/;

const limits = { timeoutMs: 1, maxRetries: 0, retryBackoffMs: 0, maxResultBytes: 1 } as const;

/** Returns the tool as it came, or throws `invalid_tool` when the runtime or a provider could not use it. */
export function checkTool(tool: Tool): Tool {
  const { name, replay } = tool;
  if (typeof name !== 'string' || !namePattern.test(name))
    throw invalidTool(name, 'has a name providers refuse', 'Use 1 to 64 letters, digits, underscores and hyphens.');
  if (typeof tool.execute !== 'function')
    throw invalidTool(name, 'has no execute function', 'Give it one; Lanefold runs every tool itself.');
  if (typeof tool.validate !== 'function')
    throw invalidTool(name, 'has no validate function', 'Make it by defineTool().');
  const verifies = typeof replay === 'object' && replay !== null && typeof replay.verify === 'function';
  if (replay !== 'safe' && replay !== 'never' && !verifies)
    throw invalidTool(name, 'has an unknown replay', "Use 'safe', 'never' or { verify }.");
  if (tool.needsApproval !== undefined && !['boolean', 'function'].includes(typeof tool.needsApproval))
    throw invalidTool(name, 'has an unknown needsApproval', 'Use true, false or a function.');
  const type: unknown = tool.inputSchema?.type;
  if (typeof tool.inputSchema !== 'object' || tool.inputSchema === null || (type !== undefined && type !== 'object'))
    throw invalidTool(
      name,
      'has an input schema that is not of an object',
      'Wrap the input: z.object({ value: ... }).',
    );
  for (const [key, least] of Object.entries(limits)) {
    const value = tool[key as keyof typeof limits];
    if (value !== undefined && !(typeof value === 'number' && value >= least))
      throw invalidTool(name, `needs a ${key} of at least ${least}`);
  }
  return tool;
}
