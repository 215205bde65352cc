import { AsyncLocalStorage } from 'node:async_hooks';
import type { Context } from 'hono';
import type { Library } from '../../library/library.ts';
import { holdAnswer } from '../answer.ts';
import type { ByteBudget } from '../byte-budget.ts';
import type { ApiApp, ApiEnv } from '../env.ts';
import type { McpMount } from '../options.ts';

export const mcpPath = '/mcp';

interface Surroundings {
  maxBodyBytes: number;
  /** Of large answers, as for the rest of the API. */
  answers: ByteBudget;
  closing: AbortSignal | undefined;
}

/** Serves MCP beside the API. Its requests come back through the API, with the key of the client. */
export function addMcp(app: ApiApp, lanefold: Library, mount: McpMount, surroundings: Surroundings): void {
  const { maxBodyBytes, answers, closing } = surroundings;
  // the SDK hands its handlers no trace of the connection that they answer
  const serving = new AsyncLocalStorage<Context<ApiEnv>>();
  const mcp = mount(lanefold, {
    maxBodyBytes,
    door: (request) => app.fetch(request),
    hold(bytes) {
      const c = serving.getStore();
      if (c) holdAnswer(c, answers, bytes);
    },
    // what clients send wrong is theirs to see, in the answer
    onError: (error) => lanefold.log.debug({ err: error }, 'mcp: a request could not be served'),
  });
  closing?.addEventListener('abort', () => void mcp.close());
  app.on(['GET', 'POST', 'DELETE'], mcpPath, (c) => {
    const { method, url, headers, signal } = c.req.raw;
    const body = c.get('body');
    const read = method === 'POST' ? { body: new Uint8Array(body) } : {};
    return serving.run(c, () => mcp.fetch(new Request(url, { method, headers, signal, ...read })));
  });
}
