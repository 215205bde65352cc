/**
 * An MCP server: agents as tools, runs as tasks, threads and contexts as resources.
 *
 * @module mcp
 */
export {
  mountMcp,
  createMcpHandler,
  type McpHandler,
  serveMcpOverStdio,
  type McpStreams,
  type RunningMcp,
  createMcpServer,
} from './serve.ts';
export type { McpHandlerOptions, McpOptions, McpServerOptions } from './options.ts';
export type { MountedMcp, McpMount, McpSurroundings } from '../../server/options.ts';
