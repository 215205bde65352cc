import { randomUUID } from 'node:crypto';
import { Hono } from 'hono';
import { setSignedCookie } from 'hono/cookie';
import { parseSigned } from 'hono/utils/cookie';
import type { Lanefold } from 'lanefold';
import { createChatHandler } from 'lanefold/chat';
import { bundlePage } from './bundle.ts';

/** The page at `/`, and its chat route. */
export async function createApp(lanefold: Lanefold, secret: string): Promise<Hono> {
  const page = await bundlePage();
  const app = new Hono();

  // Stands for your sign-in: a cookie that only this server can write.
  const userOf = async (request: Request) => {
    const { user } = await parseSigned(request.headers.get('cookie') ?? '', secret, 'user');
    return typeof user === 'string' ? user : undefined;
  };

  const chat = createChatHandler(lanefold, {
    agent: 'shop',
    authorize: async (request) => {
      const user = await userOf(request);
      return user ? ({ chatId }) => ({ threadId: `chat:${user}:${chatId}`, by: user }) : null;
    },
  });
  app.all('/api/chat/*', (c) => chat(c.req.raw));

  app.get('/', async (c) => {
    // each visitor gets an account
    if (!(await userOf(c.req.raw)))
      await setSignedCookie(c, 'user', randomUUID(), secret, { httpOnly: true, sameSite: 'Lax' });
    return c.html(page.html);
  });
  app.get('/chat.js', (c) => c.body(page.script, 200, { 'content-type': 'text/javascript' }));
  return app;
}
