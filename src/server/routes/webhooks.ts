import { createRoute, z } from '@hono/zod-openapi';
import { may } from '../../base/access/principal.ts';
import { camelKeys } from '../../base/common/case.ts';
import { omitUndefined } from '../../base/common/omit-undefined.ts';
import type { WebhookOwner } from '../../features/webhooks/operations/types.ts';
import { deliveryStatuses, type WebhookDefinition } from '../../features/webhooks/definition/definition.ts';
import type { ApiApp, ApiEnv } from '../env.ts';
import { toJson } from '../json.ts';
import { withField } from '../problem.ts';
import { bodyProblems, problems } from '../schemas/problem.ts';
import { Id, wholeText } from '../schemas/values.ts';
import {
  NewWebhook,
  NewWebhookSecret,
  Webhook,
  WebhookDeliveryList,
  WebhookList,
  WebhookReplay,
  WebhookReplayed,
  WebhookSecret,
  WebhookSet,
  WebhookTest,
} from '../schemas/webhook.ts';
import { body, json, security } from './shared.ts';

const tags = ['Webhooks'];
const params = z.object({ name: Id });
const query = z.strictObject({
  tenant: Id.optional().openapi({
    param: { description: 'The tenant of the webhook; default: the tenant of the key, else `default`.' },
  }),
});
const shared = { tags, security };

const list = createRoute({
  ...{ ...shared, method: 'get', path: '/v1/webhooks', operationId: 'listWebhooks' },
  summary: 'List the webhooks',
  description: 'A key of a tenant sees the webhooks of the tenant.',
  responses: { 200: json('The webhooks, by tenant and name.', WebhookList), ...problems() },
});

const get = createRoute({
  ...{ ...shared, method: 'get', path: '/v1/webhooks/{name}', operationId: 'getWebhook' },
  summary: 'Get a webhook',
  request: { params, query },
  responses: { 200: json('The webhook.', Webhook), ...problems(404) },
});

const set = createRoute({
  ...{ ...shared, method: 'put', path: '/v1/webhooks/{name}', operationId: 'setWebhook' },
  summary: 'Set or replace a webhook',
  description: 'The answer has the secret of a new webhook. What is paused stays paused.',
  request: { params, query, body: body(NewWebhook) },
  responses: { 200: json('The webhook.', WebhookSet), ...problems(...bodyProblems) },
});

const remove = createRoute({
  ...{ ...shared, method: 'delete', path: '/v1/webhooks/{name}', operationId: 'removeWebhook' },
  summary: 'Remove a webhook and its deliveries',
  description: 'What was not delivered yet is not sent.',
  request: { params, query },
  responses: { 204: { description: 'The webhook is removed.' }, ...problems(404) },
});

const rotate = createRoute({
  ...{ ...shared, method: 'post', path: '/v1/webhooks/{name}/rotate', operationId: 'rotateWebhook' },
  summary: 'Give a webhook a new secret',
  description: 'Until the secrets before end, each request has a signature of each.',
  request: { params, query, body: body(NewWebhookSecret) },
  responses: { 200: json('The new secret.', WebhookSecret), ...problems(404, 501, ...bodyProblems) },
});

const pause = createRoute({
  ...{ ...shared, method: 'post', path: '/v1/webhooks/{name}/pause', operationId: 'pauseWebhook' },
  summary: 'Pause a webhook',
  description: 'Events are kept until it is resumed.',
  request: { params, query },
  responses: { 200: json('The webhook.', Webhook), ...problems(404) },
});

const resume = createRoute({
  ...{ ...shared, method: 'post', path: '/v1/webhooks/{name}/resume', operationId: 'resumeWebhook' },
  summary: 'Resume a paused webhook',
  description: 'It gets what was not delivered meanwhile.',
  request: { params, query },
  responses: { 200: json('The webhook.', Webhook), ...problems(404) },
});

const test = createRoute({
  ...{ ...shared, method: 'post', path: '/v1/webhooks/{name}/test', operationId: 'testWebhook' },
  summary: 'Send a test event',
  description: 'Its type is `webhook.test`.',
  request: { params, query },
  responses: { 202: json('The event will be sent.', WebhookTest), ...problems(404) },
});

const deliveries = createRoute({
  ...{ ...shared, method: 'get', path: '/v1/webhooks/{name}/deliveries', operationId: 'listDeliveries' },
  summary: 'List the deliveries of a webhook, newest first, with the answers',
  request: {
    params,
    query: query.extend({
      status: z.enum(deliveryStatuses).optional(),
      limit: wholeText(1, 1_000, 'Maximum number of deliveries; default 50.'),
    }),
  },
  responses: { 200: json('The deliveries.', WebhookDeliveryList), ...problems(404) },
});

const replay = createRoute({
  ...{ ...shared, method: 'post', path: '/v1/webhooks/{name}/replay', operationId: 'replayWebhook' },
  summary: 'Send one delivery again, or all failed and dropped ones since a time',
  description: 'Their `webhook-id` stays.',
  request: { params, query, body: body(WebhookReplay) },
  responses: { 202: json('How many are sent again.', WebhookReplayed), ...problems(404, ...bodyProblems) },
});

export function addWebhooks(app: ApiApp): void {
  app.openapi(list, async (c) => {
    const found = await c.var.lanefold.webhooks.list();
    return c.json({ data: found.map((webhook) => toJson(shownTo(c.var, webhook))) }, 200);
  });

  app.openapi(get, async (c) =>
    c.json(
      toJson(
        shownTo(
          c.var,
          await c.var.lanefold.webhooks.get(c.req.valid('param').name, omitUndefined(c.req.valid('query'))),
        ),
      ),
      200,
    ),
  );

  app.openapi(set, async (c) => {
    const definition = camelKeys(omitUndefined(c.req.valid('json'))) as unknown as WebhookDefinition;
    const webhook = await c.var.lanefold.webhooks
      .set(c.req.valid('param').name, definition, ownerOf(c.var, c.req.valid('query')))
      .catch((error: unknown) => Promise.reject(withField(error)));
    return c.json(toJson(webhook), 200);
  });

  app.openapi(remove, async (c) => {
    await c.var.lanefold.webhooks.remove(c.req.valid('param').name, ownerOf(c.var, c.req.valid('query')));
    return c.body(null, 204);
  });

  app.openapi(rotate, async (c) => {
    const options = { ...ownerOf(c.var, c.req.valid('query')), ...camelKeys(omitUndefined(c.req.valid('json'))) };
    return c.json(await c.var.lanefold.webhooks.rotate(c.req.valid('param').name, options), 200);
  });

  app.openapi(pause, async (c) =>
    c.json(
      toJson(await c.var.lanefold.webhooks.pause(c.req.valid('param').name, ownerOf(c.var, c.req.valid('query')))),
      200,
    ),
  );

  app.openapi(resume, async (c) =>
    c.json(
      toJson(await c.var.lanefold.webhooks.resume(c.req.valid('param').name, ownerOf(c.var, c.req.valid('query')))),
      200,
    ),
  );

  app.openapi(test, async (c) =>
    c.json(await c.var.lanefold.webhooks.test(c.req.valid('param').name, ownerOf(c.var, c.req.valid('query'))), 202),
  );

  app.openapi(deliveries, async (c) => {
    const given = omitUndefined(c.req.valid('query'));
    const found = await c.var.lanefold.webhooks.deliveries(c.req.valid('param').name, given);
    return c.json({ data: found.map(toJson) }, 200);
  });

  app.openapi(replay, async (c) => {
    const { id, since } = c.req.valid('json');
    const which = omitUndefined({ id, since: since === undefined ? undefined : new Date(since) });
    const options = { ...ownerOf(c.var, c.req.valid('query')), ...which };
    return c.json(await c.var.lanefold.webhooks.replay(c.req.valid('param').name, options), 202);
  });
}

type Caller = Pick<ApiEnv['Variables'], 'principal'>;

/** A URL is often all that it takes to post to a receiver, so only keys that may set webhooks see more than its origin. */
const shownTo = <T extends { url: string }>({ principal }: Caller, webhook: T): T =>
  may(principal, 'admin') ? webhook : { ...webhook, url: new URL(webhook.url).origin };

const ownerOf = ({ principal }: Caller, given: z.infer<typeof query>): WebhookOwner => ({
  ...omitUndefined(given),
  by: principal.actor,
});
