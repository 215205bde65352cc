import type { Library } from '../../library/library.ts';
import type { ApiApp } from '../env.ts';
import type { McpMount } from '../options.ts';

export const mcpPath = '/mcp';

interface Surroundings {
  maxBodyBytes: number;
  closing?: AbortSignal;
}

/** Serves MCP beside the API. Its requests come back through the API, with the key of the client. */
export function addMcp(app: ApiApp, lanefold: Library, mount: McpMount, { maxBodyBytes, closing }: Surroundings): void {
  const mcp = mount(lanefold, {
    maxBodyBytes,
    door: (request) => app.fetch(request),
    // what clients send wrong is theirs to see, in the answer
    onError: (error) => lanefold.log.debug({ err: error }, 'mcp: a request could not be served'),
  });
  closing?.addEventListener('abort', () => void mcp.close());
  app.on(['GET', 'POST', 'DELETE'], mcpPath, (c) => {
    const { method, url, headers, signal } = c.req.raw;
    const body = c.get('body');
    const read = method === 'POST' ? { body: new Uint8Array(body) } : {};
    return mcp.fetch(new Request(url, { method, headers, signal, ...read }));
  });
}
