import { randomUUID } from 'node:crypto';
import { serveStatic } from '@hono/node-server/serve-static';
import { Hono } from 'hono';
import { setSignedCookie } from 'hono/cookie';
import { proxy } from 'hono/proxy';
import { parseSigned } from 'hono/utils/cookie';
import type { Lanefold } from 'lanefold';

export interface AppOptions {
  /** The address of Lanefold's API. */
  api: string;
  /** The folder of the built page. */
  page: string;
  /** Signs the cookie. */
  secret: string;
}

/** The page, tokens for it, and the API behind the same origin. In production, your reverse proxy does the last part. */
export function createApp(lanefold: Lanefold, { api, page, secret }: AppOptions): Hono {
  const app = new Hono();

  // Stands for your sign-in: a cookie that only this server can write.
  app.use(async (c, next) => {
    const { user } = await parseSigned(c.req.header('cookie') ?? '', secret, 'user');
    // a new visitor gets an account
    if (typeof user !== 'string' && c.req.path === '/')
      await setSignedCookie(c, 'user', randomUUID(), secret, { httpOnly: true, sameSite: 'Lax' });
    await next();
  });

  // The only place that decides who may use which thread.
  app.get('/token', async (c) => {
    const { user } = await parseSigned(c.req.header('cookie') ?? '', secret, 'user');
    const chat = c.req.query('chat') ?? 'main';
    if (typeof user !== 'string' || !/^\w{1,40}$/.test(chat)) return c.json({ error: 'not signed in' }, 401);
    const threadId = `chat:${user}:${chat}`;
    // customers decide on their own refunds
    const { token } = lanefold.keys.browserToken({ threadId, access: 'approve', agents: ['shop'] });
    return c.json({ threadId, token });
  });

  app.all('/v1/*', (c) => {
    const { pathname, search } = new URL(c.req.url);
    // a visitor who leaves ends the stream, which is no error
    return proxy(`${api}${pathname}${search}`, { raw: c.req.raw, signal: null });
  });
  app.get('/*', serveStatic({ root: page }));
  return app;
}
