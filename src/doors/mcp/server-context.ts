import type { McpServer } from '@modelcontextprotocol/server';
import type { DerivedIds } from '../../base/checks/ids.ts';
import type { AgentSummary } from '../../runs/operations/agents/agents.ts';
import type { Api } from './api.ts';

/** What the handlers of one MCP server share. */
export interface McpContext {
  server: McpServer;
  api: Api;
  /** Ids that derive from the names of requests, as those of the server's own tenant. */
  ids(): Promise<DerivedIds>;
  /** The agents that are tools. */
  agents: readonly AgentSummary[];
  /** The names that the option `agents` lists; undefined: every agent. */
  onlyAgents: readonly string[] | undefined;
  /** How long a tool call waits for its run, in ms. */
  waitMs: number;
  /** Takes the bytes of an answer from the memory budget of the HTTP server; undefined: there is none. */
  hold: ((bytes: number) => void) | undefined;
}

/**
 * Counts an answer before the SDK writes it.
 *
 * @throws LanefoldError `server_busy`
 */
export function held<T extends object>({ hold }: Pick<McpContext, 'hold'>, answer: T): T {
  hold?.(Buffer.byteLength(JSON.stringify(answer)));
  return answer;
}
