import { LanefoldError } from '../errors.ts';
import { invalidTool } from './check-tool.ts';
import type { ToolOutcome } from './execute.ts';
import { renderError } from './result.ts';
import type { Tool } from './tool.ts';

/** The tools by name, in the order of the list. Errors: `invalid_tool` when two have the same name. */
export function toolsByName(tools: readonly Tool[]): ReadonlyMap<string, Tool> {
  const byName = new Map<string, Tool>();
  for (const tool of tools) {
    if (byName.has(tool.name)) throw invalidTool(tool.name, 'is listed twice', 'Rename one of the two.');
    byName.set(tool.name, tool);
  }
  return byName;
}

/** The outcome of a call to a tool the agent does not have; the model reads it and goes on. */
export const unknownTool = (name: string): ToolOutcome => ({
  ...renderError({ type: 'unknown_tool', message: `Tool '${name}' not found`, retryable: false }),
  attempts: 1,
  durationMs: 0,
});

/** Tools somebody named that are not there. */
export function unknownTools(names: readonly string[], known: Iterable<string>): LanefoldError {
  const sorted = [...new Set(known)].sort();
  const missing = [...names].sort();
  return new LanefoldError(
    'unknown_tool',
    missing.length === 1
      ? `There is no tool ${JSON.stringify(missing[0])}.`
      : `There are no tools ${missing.map((name) => JSON.stringify(name)).join(', ')}.`,
    { hint: `Known here: ${sorted.join(', ') || 'none'}.`, details: { tools: missing, known: sorted } },
  );
}
