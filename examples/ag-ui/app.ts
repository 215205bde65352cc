import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { build } from 'esbuild';
import { Hono } from 'hono';
import { setSignedCookie } from 'hono/cookie';
import { parseSigned } from 'hono/utils/cookie';
import type { Lanefold } from 'lanefold';
import { createAgUiHandler } from 'lanefold/ag-ui';

/** The page at `/`, and the route that its `HttpAgent` calls. */
export async function createApp(lanefold: Lanefold, secret: string): Promise<Hono> {
  const folder = path.join(import.meta.dirname, 'page');
  const [html, script] = await Promise.all([readFile(path.join(folder, 'index.html'), 'utf8'), bundle(folder)]);
  const app = new Hono();

  // Stands for your sign-in: a cookie that only this server can write.
  const userOf = async (request: Request) => {
    const { user } = await parseSigned(request.headers.get('cookie') ?? '', secret, 'user');
    return typeof user === 'string' ? user : undefined;
  };

  const agUi = createAgUiHandler(lanefold, {
    agent: 'shop',
    authorize: async (request) => {
      const user = await userOf(request);
      return user ? ({ threadId }) => ({ threadId: `ag-ui:${user}:${threadId}`, by: user }) : null;
    },
  });
  app.post('/api/ag-ui', (c) => agUi(c.req.raw));
  app.post('/api/ag-ui/cancel', (c) => agUi(c.req.raw));

  app.get('/', async (c) => {
    // every visitor gets an account
    if (!(await userOf(c.req.raw)))
      await setSignedCookie(c, 'user', randomUUID(), secret, { httpOnly: true, sameSite: 'Lax' });
    return c.html(html);
  });
  app.get('/page.js', (c) => c.body(script, 200, { 'content-type': 'text/javascript' }));
  return app;
}

/** The page for browsers. A framework with a build step, such as Vite, does this for you. */
async function bundle(folder: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [path.join(folder, 'page.ts')],
    tsconfig: path.join(folder, 'tsconfig.json'),
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    target: 'es2022',
    logLevel: 'warning',
  });
  return outputFiles![0]!.text;
}
