import { z } from 'zod';
import { may, type Principal } from '../../base/access/principal.ts';
import { noun } from '../../base/operations/operation.ts';
import { by, count, date, Id, jsonObject, named, orNull, tenantOf, whole } from '../../base/operations/schemas.ts';
import type { ListedWebhook as Listed } from './types.ts';

export const WebhookType = z
  .enum([
    'run.completed',
    'run.failed',
    'run.cancelled',
    'approval.requested',
    'wait.started',
    'limit.exhausted',
    'schedule.missed',
    'monitor.low',
    'monitor.recovered',
    'alarm.raised',
    'alarm.cleared',
    'circuit.opened',
    'circuit.closed',
  ])
  .meta({ doc: 'The events that an endpoint can get. `webhook.test` comes only if you send a test.' });

const settings = {
  url: z.string().min(1).max(2_000).meta({
    description: 'An `https:` URL at a public address.',
    example: 'https://example.com/webhooks',
  }),
  types: z.array(WebhookType).meta({
    description: 'The types of events to send; empty: all types.',
    example: ['run.completed', 'run.failed'],
  }),
  agents: z.array(z.string().min(1).max(128)).max(100).meta({
    description: 'The agents whose events are sent; empty: all agents.',
    example: [],
  }),
  ordered: z.boolean().meta({
    description: 'Whether the events of a thread are sent in order, one at a time.',
    doc:
      'The events of a thread come one after the other: the next is sent once the one before is delivered or has failed ' +
      'for good. Default false. A change applies to later events.',
  }),
  includeResult: z.boolean().describe('Whether `run.completed` includes the result of the run, up to 64 KiB.'),
};
const template = jsonObject('').meta({
  description:
    'The body to send instead of the event, as Slack or a mail gateway expects it. Texts in it may name `{{id}}`, `{{type}}`, ' +
    '`{{timestamp}}` and fields of `{{data}}`, such as `{{data.agent}}`.',
  example: { text: '{{type}}: {{data.agent}}' },
});

export const WebhookDefinition = named(
  'NewWebhook',
  z.strictObject({ ...z.object(settings).partial().shape, url: settings.url, template: template.optional() }).meta({
    doc: 'An endpoint, as you set it.',
    example: { url: 'https://example.com/webhooks', types: ['run.completed', 'run.failed'] },
  }),
);

export const PauseReason = z
  .enum(['manual', 'failures', 'gone'])
  .meta({ doc: 'Why an endpoint is paused: by hand, after many failures, or because it answered 410 Gone.' });

export const ListedWebhook = named(
  'Webhook',
  z
    .object({
      name: Id,
      tenant: Id.describe('The tenant whose events it gets.'),
      ...settings,
      url: settings.url.describe('Where its events go. Keys without the scope `admin` see only the origin.'),
      template: orNull(template).describe(
        'The body that is sent instead of the event; null: the event. Keys without the scope `admin` do not see it.',
      ),
      pausedAt: orNull(date('Since when it is paused.')),
      pausedReason: orNull(PauseReason).describe('Why: by hand, after many failures, or because it answered 410 Gone.'),
      failures: count('How many attempts in a row have failed.', 0),
      failingSince: orNull(date('Since when every attempt has failed.')),
      dropped: count('How many deliveries were dropped because too many were waiting.', 0),
      version: count('Rises with every change.', 3),
      createdAt: date('When it was first set.'),
      updatedAt: date('When it was last changed.'),
      updatedBy: z.string().describe('`operator`, `key:<id>`, `cli:<user>` or `lanefold`.'),
    })
    .meta({ doc: 'An endpoint with its state.' }),
);

const secret = z.string().meta({
  description: 'The secret for verifying signatures. It is shown only here.',
  example: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
});

export const SetWebhookResult = named(
  'WebhookSet',
  z
    .object({ ...ListedWebhook.shape, secret: secret.optional() })
    .meta({ doc: 'An endpoint that was just set, with the secret if it is a new one.' }),
);

export const DeliveryStatus = z
  .enum(['pending', 'delivered', 'failed', 'dropped'])
  .meta({ doc: '`dropped`: given up, because too many were waiting for a paused or failing endpoint.' });

export const WebhookDelivery = named(
  'WebhookDelivery',
  z
    .object({
      id: Id.describe('The `webhook-id` of all its attempts.'),
      threadId: z.string(),
      type: z.string().meta({ example: 'run.completed' }),
      status: DeliveryStatus,
      attempts: count('Attempts begun.', 1),
      createdAt: date('When the event happened.'),
      nextAt: orNull(
        date('When the next attempt is due; null if the delivery is settled or waits for an earlier delivery.'),
      ),
      attemptedAt: orNull(date('When the last attempt began.')),
      settledAt: orNull(date('When it was delivered, failed for good or was dropped.')),
      durationMs: orNull(z.int()).describe('How long the last attempt took.'),
      statusCode: orNull(z.int()).describe('The status of the last answer.'),
      error: orNull(z.object({ code: z.string(), message: z.string() })).describe('Why the last attempt failed.'),
      answer: orNull(z.string()).describe('The beginning of the last answer.'),
      payload: jsonObject(
        'The event: `type`, `timestamp` and `data`. It is the body, unless the webhook has a template.',
      ),
    })
    .meta({ doc: 'An event that was sent to an endpoint, or will be sent.' }),
);

const day = 86_400_000;

const NewWebhookSecret = named(
  'NewWebhookSecret',
  z
    .strictObject({
      keepMs: whole(0, 30 * day)
        .optional()
        .meta({ description: 'How long earlier secrets stay valid; default one day.', example: day }),
    })
    .meta({ example: { keepMs: day } }),
);

const WebhookRedelivery = named(
  'WebhookRedelivery',
  z
    .strictObject({
      id: Id.optional().meta({ description: 'One delivery.', example: 'msg_6d4c3f1b0a9e8d7c6b5a493827160504' }),
      since: date(
        'All failed and dropped deliveries of events since this time. Set either this field or `id`.',
      ).optional(),
    })
    .meta({ example: { since: new Date('2026-11-21T10:15:30.123Z') } }),
);

/**
 * A URL is often all that it takes to post to a receiver, or what its body has, so only keys that may set webhooks see more
 * than the origin.
 */
const shownTo = (principal: Principal, webhook: Listed): Listed =>
  may(principal, 'admin') ? webhook : { ...webhook, url: new URL(webhook.url).origin, template: null };

const tenant = tenantOf('webhook');
const answer = { description: 'The webhook.', schema: ListedWebhook };
const errors = ['webhook_not_found'] as const;

export const webhooks = noun('webhooks', 'Webhooks', {
  list: {
    id: 'listWebhooks',
    route: 'GET /v1/webhooks',
    scope: 'read',
    summary: 'List the webhooks',
    description: 'A key of a tenant sees the webhooks of the tenant.',
    answer: { description: 'The webhooks, by tenant and name.', schema: z.array(ListedWebhook) },
    show: (all: Listed[], principal) => all.map((webhook) => shownTo(principal, webhook)),
  },
  get: {
    id: 'getWebhook',
    route: 'GET /v1/webhooks/{name}',
    scope: 'read',
    summary: 'Get a webhook',
    query: { tenant },
    answer,
    errors,
    show: (webhook: Listed, principal) => shownTo(principal, webhook),
  },
  set: {
    id: 'setWebhook',
    route: 'PUT /v1/webhooks/{name}',
    summary: 'Set or replace a webhook',
    description: 'For a new webhook, the answer has the secret. A paused webhook stays paused.',
    query: { tenant },
    body: WebhookDefinition,
    own: { by },
    answer: { description: 'The webhook.', schema: SetWebhookResult },
    errors: ['invalid_input'],
  },
  remove: {
    id: 'removeWebhook',
    route: 'DELETE /v1/webhooks/{name}',
    summary: 'Remove a webhook and its deliveries',
    description: 'Deliveries that are still open are not sent.',
    query: { tenant },
    own: { by },
    answer: { description: 'The webhook is removed.' },
    errors,
  },
  rotate: {
    id: 'rotateWebhook',
    route: 'POST /v1/webhooks/{name}/rotate',
    summary: 'Give a webhook a new secret',
    description: 'As long as earlier secrets are valid, each request has one signature per secret.',
    query: { tenant },
    body: NewWebhookSecret,
    bodyIs: 'options',
    own: { by },
    answer: { description: 'The new secret.', schema: named('WebhookSecret', z.object({ secret })) },
    errors: ['webhook_not_found', 'role_unfit'],
  },
  pause: {
    id: 'pauseWebhook',
    route: 'POST /v1/webhooks/{name}/pause',
    summary: 'Pause a webhook',
    description: 'Events are kept until it is resumed.',
    query: { tenant },
    own: { by },
    answer,
    errors,
  },
  resume: {
    id: 'resumeWebhook',
    route: 'POST /v1/webhooks/{name}/resume',
    summary: 'Resume a paused webhook',
    description: 'The webhook then gets the events that were kept.',
    query: { tenant },
    own: { by },
    answer,
    errors,
  },
  test: {
    id: 'testWebhook',
    route: 'POST /v1/webhooks/{name}/test',
    summary: 'Send a test event',
    description: 'Its type is `webhook.test`.',
    query: { tenant },
    own: { by },
    answer: {
      status: 202,
      description: 'The event will be sent.',
      schema: named('WebhookTest', z.object({ id: Id.describe('The delivery.') })),
    },
    errors,
  },
  deliveries: {
    id: 'listDeliveries',
    route: 'GET /v1/webhooks/{name}/deliveries',
    scope: 'read',
    summary: 'List the deliveries of a webhook, newest first, with the answers',
    query: {
      tenant,
      status: DeliveryStatus.optional(),
      limit: whole(1, 1_000).optional().describe('Maximum number of deliveries; default 50.'),
    },
    answer: { description: 'The deliveries.', schema: z.array(WebhookDelivery) },
    errors,
  },
  redeliver: {
    id: 'redeliverWebhook',
    route: 'POST /v1/webhooks/{name}/redeliver',
    summary: 'Send one delivery again, or all failed and dropped ones since a time',
    description: 'Each delivery keeps its `webhook-id`.',
    doc:
      'Sends one delivery again, or the newest 1,000 failed and dropped ones since a time, in the order in which they ' +
      'happened, under the same `webhook-id`. A delivery that is being sent, is in the queue, or waits for an earlier one ' +
      'is left alone.',
    query: { tenant },
    body: WebhookRedelivery,
    bodyIs: 'options',
    own: { by },
    answer: {
      status: 202,
      description: 'How many are sent again.',
      schema: named('WebhookRedelivered', z.object({ redelivered: count('How many are sent again.', 12) })),
    },
    errors: ['webhook_not_found', 'delivery_not_found'],
  },
});
