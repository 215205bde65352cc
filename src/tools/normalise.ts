import type { Tool as AiSdkTool } from '@ai-sdk/provider-utils';
import { fromAiSdkTool } from './ai-sdk-tool.ts';
import { checkTool, invalidTool } from './check-tool.ts';
import { toolsByName } from './lookup.ts';
import type { Tool } from './tool.ts';

/** Tools by name: those of the AI SDK, also from an MCP client's `tools()`, or our own. */
export type ToolRecord = Record<string, AiSdkTool | Tool>;

/** What an agent may list: a record, or a list of tools and records. */
export type ToolListing = ToolRecord | readonly (Tool | ToolRecord)[];

/**
 * Turns a listing into the tools the runtime uses, in listing order, frozen. Lazy schemas are resolved here, once.
 *
 * Errors: `invalid_tool` for a tool without `execute`, two of one name, or one `checkTool` refuses.
 */
export async function normaliseTools(listing: ToolListing): Promise<readonly Tool[]> {
  const entries = Array.isArray(listing) ? (listing as readonly (Tool | ToolRecord)[]) : [listing as ToolRecord];
  const named = entries.flatMap(open);
  const tools = await Promise.all(named.map(([name, tool]) => normalise(name, tool)));
  toolsByName(tools);
  return Object.freeze(tools);
}

function open(entry: Tool | ToolRecord): [name: string, tool: Tool | AiSdkTool][] {
  if (isTool(entry)) return [[entry.name, entry]];
  if (typeof entry !== 'object' || entry === null)
    throw invalidTool(entry, 'is no tool', 'List tools of defineTool(), or a record { name: tool }.');
  if ('inputSchema' in entry && typeof entry.execute === 'function')
    throw invalidTool(undefined, 'of the AI SDK has no name', 'List it in a record: { name: tool }.');
  return Object.entries(entry);
}

async function normalise(name: string, tool: Tool | AiSdkTool): Promise<Tool> {
  if (!isTool(tool)) return fromAiSdkTool(name, tool);
  if (tool.name !== name) throw invalidTool(tool.name, `is listed as ${JSON.stringify(name)}`, 'Use one name.');
  return checkTool(tool);
}

// The entries of a record are objects, so a record of tools called `name` and `validate` is not mistaken for a tool.
const isTool = (entry: unknown): entry is Tool => {
  const { name, validate } = Object(entry) as Partial<Tool>;
  return typeof name === 'string' && typeof validate === 'function';
};
