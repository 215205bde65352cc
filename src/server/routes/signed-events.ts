import type { MiddlewareHandler } from 'hono';
import type { TenantLibrary } from '../../features/library/library.ts';
import type { ApiApp, ApiEnv } from '../env.ts';
import type { Site } from '../site.ts';

/** Where the holders of a signed path send its event. The token is all that they need, so there is no key. */
export const signedEventsPath = '/signed/events/:token';

/** Lets requests with a valid token in their path pass, before their body is read. */
export const byEventToken =
  ({ events }: Pick<TenantLibrary, 'events'>): MiddlewareHandler<ApiEnv, typeof signedEventsPath> =>
  async (c, next) => {
    await events.checkToken(c.req.param('token'));
    c.set('admitted', true);
    await next();
  };

export function addSignedEvents(app: ApiApp, { lanefold: { events } }: Pick<Site, 'lanefold'>): void {
  app.post(signedEventsPath, async (c) => {
    // without a body, the payload is null, as it is for send
    const payload = c.get('body').byteLength === 0 ? null : c.get('json');
    const sent = await events.sendSigned(c.req.param('token'), payload);
    return c.json({ event: sent.event, resolved: sent.resolved.length }, 200);
  });
}
