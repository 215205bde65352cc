import { processClock } from '../../base/common/timer.ts';
import { createRoute, z } from '@hono/zod-openapi';
import type { MiddlewareHandler } from 'hono';
import { operator } from '../../base/access/principal.ts';
import { omitUndefined } from '../../base/common/json.ts';
import type { TenantLibrary } from '../../features/library/library.ts';
import { defaultEventTokenMs } from '../../runs/operations/waits/events.ts';
import type { SentEvent as Sent } from '../../runs/operations/waits/send-event.ts';
import type { ApiApp, ApiEnv } from '../env.ts';
import { toJson } from '../json.ts';
import { bodyProblems, problems } from '../schemas/problem.ts';
import { Id } from '../schemas/values.ts';
import { EventToken, NewEvent, NewEventToken, SentEvent } from '../schemas/wait.ts';
import { body, json, security } from './shared.ts';

const params = z.object({ event: Id });
const tags = ['Waits'];

const send = createRoute({
  method: 'post',
  path: '/v1/events/{event}',
  operationId: 'sendEvent',
  tags,
  security,
  summary: 'Send an event to the tool calls that wait for it',
  description:
    'Each of them gets the payload as its result. For a wait that two events reach at once, the first counts.',
  request: { params, body: body(NewEvent) },
  responses: { 200: json('The calls that it released.', SentEvent), ...problems(...bodyProblems) },
});

const createToken = createRoute({
  method: 'post',
  path: '/v1/events/{event}/tokens',
  operationId: 'createEventToken',
  tags,
  security,
  summary: 'Create a signed path with which anybody may send an event',
  request: { params, body: body(NewEventToken) },
  responses: { 200: json('The token and its path.', EventToken), ...problems(...bodyProblems, 422) },
});

export function addSentEvents(app: ApiApp): void {
  app.openapi(send, async (c) => {
    const { payload, keep_ms: keepMs } = c.req.valid('json');
    const { actor } = c.var.principal;
    const by = actor === operator.actor ? undefined : actor;
    const sent = await c.var.lanefold.events.send(c.req.valid('param').event, payload, omitUndefined({ keepMs, by }));
    return c.json(toSent(sent), 200);
  });

  app.openapi(createToken, async (c) => {
    const { expires_ms: asked, keep_ms: keepMs } = c.req.valid('json');
    // a token lives no longer than the key that made it
    const { actor, expiresAtMs = Infinity } = c.var.principal;
    const left = Math.max(1, Math.floor(expiresAtMs - processClock.now()));
    const most = Math.min(asked ?? defaultEventTokenMs, left);
    const how = omitUndefined({ expiresMs: most, keepMs, keyId: keyOf(actor) });
    const token = await c.var.lanefold.events.token(c.req.valid('param').event, how);
    return c.json({ token, path: `/signed/events/${token}` }, 200);
  });
}

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

export function addSignedEvents(app: ApiApp, { events }: Pick<TenantLibrary, 'events'>): void {
  app.post(signedEventsPath, async (c) => {
    // without a body, the payload is null, as it is for send
    const payload = c.get('body').byteLength === 0 ? null : c.get('json');
    const sent = await events.sendSigned(c.req.param('token'), payload);
    return c.json({ event: sent.event, released: sent.released.length }, 200);
  });
}

/** The id of the key of an actor such as `key:<id>`. */
const keyOf = (actor: string): string | undefined => /^(?:key|token):(key_.+)$/.exec(actor)?.[1];

const toSent = ({ released, ...sent }: Sent) => ({ ...sent, released: released.map(toJson) });
