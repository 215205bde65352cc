import type { McpServer } from '@modelcontextprotocol/server';
import type { AgentSummary } from '../library/fleet/agents.ts';
import type { Api } from './api.ts';

/** What the handlers of one MCP server share. */
export interface McpContext {
  server: McpServer;
  api: Api;
  /** The agents that are tools. */
  agents: readonly AgentSummary[];
  /** How long a tool call waits for its run, in ms. */
  waitMs: number;
}
