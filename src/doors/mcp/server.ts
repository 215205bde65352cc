import { McpServer } from '@modelcontextprotocol/server';
import { packageVersion } from '../../base/common/package-root.ts';
import { databaseOf } from '../../features/library/database-of.ts';
import type { Library } from '../../features/library/library.ts';
import { idsOf } from '../../database/store/tenant/derived-ids.ts';
import { apiOf } from './api.ts';
import type { Caller } from './door.ts';
import type { CheckedOptions } from './options.ts';
import { addResources } from './resources/handlers.ts';
import type { McpContext } from './server-context.ts';
import { addTasks } from './tasks/handlers.ts';
import { addTools } from './tools/handlers.ts';

const instructions =
  'Each agent is a tool. A call starts a durable run: it goes on if you stop waiting, and lanefold_run_result returns its ' +
  'answer later. Pass thread_id to continue a conversation, and a request_id of your own to retry without a second run.';

/**
 * One MCP server: for a connection, or for a single HTTP request.
 *
 * @param era `modern`: revision 2026-07-28 and later, which has tasks; `legacy`: those before
 * @param hold takes the bytes of an answer from a budget; default: answers are not counted
 */
export function newServer(
  lanefold: Library,
  caller: Caller,
  { agents: names, waitMs }: CheckedOptions,
  era: 'modern' | 'legacy',
  hold?: (bytes: number) => void,
): McpServer {
  const server = new McpServer({ name: 'lanefold', title: 'Lanefold', version: packageVersion() }, { instructions });
  const agents = lanefold.agents.list().filter(({ name }) => names?.includes(name) ?? true);
  const ids = () => idsOf(databaseOf(lanefold, 'An MCP server'));
  const mcp: McpContext = { server, api: apiOf(caller), ids, agents, onlyAgents: names, waitMs, hold };
  addTools(mcp);
  addResources(mcp);
  if (era === 'modern') addTasks(mcp);
  return server;
}
