import path from 'node:path';
import type { Context, MiddlewareHandler } from 'hono';
import { LanefoldError } from '../../errors.ts';
import type { ApiApp } from '../env.ts';
import { pageFiles } from './files.ts';

/**
 * The page may load its own script, style sheet and API, and nothing else. Trusted Types block every path from text to
 * HTML, so that output of models and tools stays text.
 */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

const types: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
};

/**
 * Serves the page at `/`. Its files hold no data and need no key: the page asks for the key, and the API checks it.
 * `guard` protects them on a server without a key.
 */
export function addPage(app: ApiApp, guard: MiddlewareHandler | undefined): void {
  if (guard) for (const route of ['/', '/page/*']) app.use(route, guard);
  app.get('/', (c) => send(c, 'index.html'));
  app.get('/page/:file', (c) => send(c, c.req.param('file')));
}

/** Whether a browser accepts an encoding: it names it, not with a weight of 0. */
const accepts = {
  br: /\bbr\b(?!\s*;\s*q=0(?![.\d]*[1-9]))/,
  gzip: /\bgzip\b(?!\s*;\s*q=0(?![.\d]*[1-9]))/,
};

async function send(c: Context, name: string): Promise<Response> {
  const type = types[path.extname(name)];
  const file = (await pageFiles()).get(name);
  if (!file || !type) throw new LanefoldError('not_found', 'The page has no such file.', { hint: 'Open /.' });
  const accepted = c.req.header('accept-encoding') ?? '';
  const { name: encoding, content } = file.encodings.find(
    (one) => one.name === undefined || accepts[one.name].test(accepted),
  )!;
  const headers = {
    'content-type': type,
    'content-security-policy': policy,
    'cache-control': 'no-cache',
    vary: 'accept-encoding',
    etag: file.tag,
    ...(encoding ? { 'content-encoding': encoding } : {}),
  };
  if (c.req.header('if-none-match') === file.tag) return c.body(null, 304, headers);
  return c.body(content, 200, headers);
}
