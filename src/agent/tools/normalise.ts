import type { Tool as AiSdkTool } from '@ai-sdk/provider-utils';
import { acceptableNames } from './acceptable-names.ts';
import { fromAiSdkTool, isMcpTool } from './ai-sdk-tool.ts';
import { checkTool, invalidTool } from './check-tool.ts';
import { toolsByName } from './lookup.ts';
import type { Tool } from './tool.ts';

/** Tools by name: from the AI SDK, the `tools()` of an MCP client, or `defineTool`. */
export type ToolRecord = Record<string, AiSdkTool | Tool>;

/** The tools of an agent: a record, or a list of tools and records. */
export type ToolListing = ToolRecord | readonly (Tool | ToolRecord)[];

/** A tool of an MCP server that got another name, because providers reject its own or another tool has it. */
export interface RenamedTool {
  from: string;
  to: string;
}

export interface NormaliseOptions {
  /** Names of tools that are added later. */
  taken?: Iterable<string>;
  onRename?: (renamed: RenamedTool) => void;
}

/**
 * Converts a listing to the runtime's tools, frozen and in listing order. Resolves lazy schemas once. Renames tools of MCP
 * servers where necessary: the application cannot choose their names.
 *
 * @throws LanefoldError `invalid_tool` for a tool that `checkTool` rejects, and for two tools with the same name
 */
export async function normaliseTools(listing: ToolListing, options: NormaliseOptions = {}): Promise<readonly Tool[]> {
  const entries = Array.isArray(listing) ? (listing as readonly (Tool | ToolRecord)[]) : [listing as ToolRecord];
  const named = renameMcpTools(entries.flatMap(open), options);
  const tools = await Promise.all(named.map(([name, tool]) => normalise(name, tool)));
  toolsByName(tools);
  return Object.freeze(tools);
}

type Named = [name: string, tool: Tool | AiSdkTool];

function renameMcpTools(named: Named[], { taken = [], onRename }: NormaliseOptions): Named[] {
  const ofMcp = named.filter(([, tool]) => isMcpTool(tool));
  const others = named.flatMap(([name, tool]) => (isMcpTool(tool) ? [] : [name]));
  const names = acceptableNames(
    ofMcp.map(([name]) => name),
    [...taken, ...others],
  );
  return named.map(([from, tool]) => {
    if (!isMcpTool(tool)) return [from, tool];
    const to = names.shift()!;
    if (to !== from) onRename?.({ from, to });
    return [to, tool];
  });
}

function open(entry: Tool | ToolRecord): Named[] {
  if (isTool(entry)) return [[entry.name, entry]];
  if (typeof entry !== 'object' || entry === null)
    throw invalidTool(entry, 'is not a tool', 'List tools made with defineTool(), or a record { name: tool }.');
  if ('inputSchema' in entry && typeof entry.execute === 'function')
    throw invalidTool(undefined, 'of the AI SDK needs a name', 'List it in a record: { name: tool }.');
  return Object.entries(entry);
}

async function normalise(name: string, tool: Tool | AiSdkTool): Promise<Tool> {
  if (!isTool(tool)) return fromAiSdkTool(name, tool);
  if (tool.name !== name) throw invalidTool(tool.name, `is listed as ${JSON.stringify(name)}`, 'Use one name.');
  return checkTool(tool);
}

// The values of a record are objects, so a record with tools called `name` and `validate` is not mistaken for a tool.
const isTool = (entry: unknown): entry is Tool => {
  const { name, validate } = Object(entry) as Partial<Tool>;
  return typeof name === 'string' && typeof validate === 'function';
};
