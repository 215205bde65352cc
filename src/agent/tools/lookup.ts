import { LanefoldError } from '../../base/errors.ts';
import { invalidTool } from './check-tool.ts';
import type { ToolOutcome } from './outcome.ts';
import { errorMessage } from './error-message.ts';
import type { Tool } from './tool.ts';

/** The tools by name, in list order. @throws LanefoldError `invalid_tool` if two have the same name */
export function toolsByName(tools: readonly Tool[]): ReadonlyMap<string, Tool> {
  const byName = new Map<string, Tool>();
  for (const tool of tools) {
    if (byName.has(tool.name)) throw invalidTool(tool.name, 'is listed twice', 'Rename one of them.');
    byName.set(tool.name, tool);
  }
  return byName;
}

/** The outcome of a call to a tool that the agent does not have. Not fatal: the model reads it and continues. */
export const unknownTool = (name: string): ToolOutcome => ({
  ...errorMessage({ type: 'unknown_tool', message: `Tool '${name}' not found`, retryable: false }),
  attempts: 1,
  durationMs: 0,
});

/** The error for tool names in a request or configuration that do not exist. */
export function unknownTools(names: readonly string[], known: Iterable<string>): LanefoldError {
  const sorted = [...new Set(known)].sort();
  const missing = [...names].sort();
  return new LanefoldError(
    'unknown_tool',
    missing.length === 1
      ? `Tool ${JSON.stringify(missing[0])} does not exist.`
      : `Tools ${missing.map((name) => JSON.stringify(name)).join(', ')} do not exist.`,
    { hint: `Known tools: ${sorted.join(', ') || 'none'}.`, details: { tools: missing, known: sorted } },
  );
}
