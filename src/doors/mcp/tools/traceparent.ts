import { TRACEPARENT_META_KEY, type ServerContext } from '@modelcontextprotocol/server';

/** The trace that the client is in: the run continues it. */
export function traceparentOf({ mcpReq: { _meta } }: ServerContext): string | undefined {
  const given = (_meta as Record<string, unknown> | undefined)?.[TRACEPARENT_META_KEY];
  // it becomes a header
  return typeof given === 'string' && /^[\x21-\x7e]{1,200}$/.test(given) ? given : undefined;
}
