import type { MiddlewareHandler } from 'hono';
import { secureHeaders } from 'hono/secure-headers';

/**
 * Headers of every response: no content-type guessing, framing or referrers. Whatever callers have stored, also under a
 * content type of theirs, runs no scripts, sends no forms and has no origin. Pages have a content policy of their own.
 */
export const securityHeaders = secureHeaders({
  contentSecurityPolicy: {
    sandbox: [],
    defaultSrc: ["'none'"],
    baseUri: ["'none'"],
    formAction: ["'none'"],
    frameAncestors: ["'none'"],
  },
  xFrameOptions: 'DENY',
  // only the proxy that ends TLS knows whether every subdomain has it
  strictTransportSecurity: false,
  overwrite: false,
});

/** No shared caching, unless a route says otherwise. */
export const noStore: MiddlewareHandler = async (c, next) => {
  await next();
  if (!c.res.headers.has('Cache-Control')) c.res.headers.set('Cache-Control', 'no-store');
};
