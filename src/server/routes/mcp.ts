import { AsyncLocalStorage } from 'node:async_hooks';
import type { Context } from 'hono';
import { holdAnswer } from '../answer.ts';
import { readJsonBytes } from '../../base/common/json-bytes.ts';
import type { ApiApp, ApiEnv } from '../env.ts';
import type { Site } from '../site.ts';
import { onAbort } from '../../base/common/timer.ts';

export const mcpPath = '/mcp';

/** Serves MCP beside the API. Its requests come back through the API, with the key of the client. */
export function addMcp(app: ApiApp, { lanefold, mcp: mount, answers, closing }: Site): void {
  if (!mount) return;
  // the SDK hands its handlers no trace of the connection that they answer
  const serving = new AsyncLocalStorage<Context<ApiEnv>>();
  const mcp = mount(lanefold, {
    door: (request) => app.fetch(request),
    hold(bytes) {
      const c = serving.getStore();
      if (c) holdAnswer(c, answers, bytes);
    },
    // what clients send wrong is theirs to see, in the answer
    onError: (error) => lanefold.log.debug({ err: error }, 'mcp: a request could not be served'),
  });
  onAbort(closing, () => void mcp.close());
  app.on(['GET', 'POST', 'DELETE'], mcpPath, (c) => {
    const { method, url, headers, signal } = c.req.raw;
    const body = c.get('body');
    const read = method === 'POST' && isJson(headers) && body.byteLength > 0 ? readJsonBytes(body) : undefined;
    if (read?.ok === false) return refused(read.kind === 'syntax' ? 'Parse error' : 'Invalid Request', read.problem);
    return serving.run(c, () => mcp.fetch(new Request(url, { method, headers, signal }), read?.value));
  });
}

/** The SDK refuses the others. */
const isJson = (headers: Headers): boolean => /^application\/json\s*(;|$)/i.test(headers.get('content-type') ?? '');

/** An error of JSON-RPC, as the SDK answers one before it knows the request. */
const codes = { 'Parse error': -32_700, 'Invalid Request': -32_600 } as const;
const refused = (what: keyof typeof codes, problem: string): Response =>
  Response.json(
    { jsonrpc: '2.0', error: { code: codes[what], message: `${what}: ${problem}` }, id: null },
    { status: 400 },
  );
