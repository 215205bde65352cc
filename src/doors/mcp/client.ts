import { CLIENT_CAPABILITIES_META_KEY, CLIENT_INFO_META_KEY, type McpServer } from '@modelcontextprotocol/server';
import type { ServerContext } from '@modelcontextprotocol/server';

/** The extension of tasks, as its specification names it. */
export const tasksExtension = 'io.modelcontextprotocol/tasks';

/** What the client of a request says about itself. */
export interface ClientAbilities {
  /** It can ask its user to fill in a form. */
  elicits: boolean;
  /** It can poll a task. */
  tasks: boolean;
  /** For the log. */
  name: string;
}

interface Capabilities {
  elicitation?: { form?: unknown; url?: unknown };
  extensions?: Record<string, unknown>;
}

/**
 * Since revision 2026-07-28, clients declare their abilities with each request; before, they did once for a connection.
 * A client of an earlier revision that connects over HTTP has declared none here, because no connection is kept.
 */
export function clientOf({ server }: McpServer, { mcpReq: { envelope = {} } }: ServerContext): ClientAbilities {
  const sent = envelope as Record<string, unknown>;
  const { elicitation, extensions } = (sent[CLIENT_CAPABILITIES_META_KEY] ??
    server.getClientCapabilities() ??
    {}) as Capabilities;
  const info = (sent[CLIENT_INFO_META_KEY] ?? server.getClientVersion()) as { name?: unknown } | undefined;
  return {
    // before forms and URLs were told apart, the capability had no fields and meant forms
    elicits: elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined),
    tasks: CLIENT_CAPABILITIES_META_KEY in sent && Object.hasOwn(extensions ?? {}, tasksExtension),
    name: typeof info?.name === 'string' ? `MCP client ${info.name.slice(0, 200)}` : 'MCP client',
  };
}
