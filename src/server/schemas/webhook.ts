import { z } from '@hono/zod-openapi';
import { deliveryStatuses, webhookTypes } from '../../features/webhooks/definition/definition.ts';
import { count, Id, jsonObject, orNull, timestamp, whole } from './values.ts';

const url = z.string().min(1).max(2_000).openapi({
  description: 'An `https:` URL at a public address.',
  example: 'https://example.com/webhooks',
});
const types = z.array(z.enum(webhookTypes)).openapi({
  description: 'The types of events it wants; empty: all.',
  example: ['run.completed', 'run.failed'],
});
const agents = z.array(z.string().min(1).max(128)).max(100).openapi({
  description: 'The agents whose events it wants; empty: all.',
  example: [],
});
const ordered = z.boolean().openapi({ description: 'Whether the events of a thread come one after the other.' });
const includeResult = z.boolean().openapi({
  description: 'Whether `run.completed` includes the result of the run, up to 64 KiB.',
});

export const NewWebhook = z
  .strictObject({
    url,
    ...{ types: types.optional(), agents: agents.optional() },
    ...{ ordered: ordered.optional(), include_result: includeResult.optional() },
  })
  .openapi('NewWebhook', { example: { url: 'https://example.com/webhooks', types: ['run.completed', 'run.failed'] } });

const secret = z.string().openapi({
  description: 'Verify signatures with it. It is shown only here.',
  example: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
});

const webhook = z.object({
  name: Id,
  tenant: Id.openapi({ description: 'The tenant whose events it gets.' }),
  url: url.openapi({ description: 'Where its events go. Keys without the scope `admin` see only the origin.' }),
  ...{ types, agents, ordered, include_result: includeResult },
  paused_at: orNull(timestamp('Since when it is paused.')),
  paused_reason: orNull(z.enum(['manual', 'failures', 'gone'])).openapi({
    description: 'Why: by hand, after many failures, or because it answered 410 Gone.',
  }),
  failures: count('How many attempts in a row have failed.', 0),
  failing_since: orNull(timestamp('Since when every attempt has failed.')),
  dropped: count('How many deliveries it has not got because too many were waiting.', 0),
  version: count('Rises with every change.', 3),
  created_at: timestamp('When it was first set.'),
  updated_at: timestamp('When it was last changed.'),
  updated_by: z.string().openapi({ description: '`operator`, `key:<id>`, `cli:<user>` or `lanefold`.' }),
});

export const Webhook = webhook.openapi('Webhook');
export const WebhookSet = webhook.extend({ secret: secret.optional() }).openapi('WebhookSet');
export const WebhookList = z.object({ data: z.array(Webhook) }).openapi('WebhookList');

export const NewWebhookSecret = z
  .strictObject({
    keep_ms: whole(0, 30 * 86_400_000)
      .optional()
      .openapi({ description: 'How long the secrets before stay valid; default one day.', example: 86_400_000 }),
  })
  .openapi('NewWebhookSecret', { example: { keep_ms: 86_400_000 } });
export const WebhookSecret = z.object({ secret }).openapi('WebhookSecret');

export const WebhookReplay = z
  .strictObject({
    id: Id.optional().openapi({ description: 'One delivery.', example: 'msg_6d4c3f1b0a9e8d7c6b5a493827160504' }),
    since: timestamp('All failed and dropped deliveries of events since then. Either this or `id`.').optional(),
  })
  .openapi('WebhookReplay', { example: { since: '2026-11-21T10:15:30.123Z' } });
export const WebhookReplayed = z.object({ replayed: count('How many are sent again.', 12) }).openapi('WebhookReplayed');

export const WebhookTest = z.object({ id: Id.openapi({ description: 'The delivery.' }) }).openapi('WebhookTest');

export const WebhookDelivery = z
  .object({
    id: Id.openapi({ description: 'The `webhook-id` of all its attempts.' }),
    thread_id: z.string(),
    type: z.string().openapi({ example: 'run.completed' }),
    status: z.enum(deliveryStatuses),
    attempts: count('Attempts begun.', 1),
    created_at: timestamp('When the event happened.'),
    next_at: orNull(timestamp('When it is tried next; null once it is settled, or while it waits for an earlier one.')),
    attempted_at: orNull(timestamp('When the last attempt began.')),
    settled_at: orNull(timestamp('When it was delivered, failed for good or was dropped.')),
    duration_ms: orNull(z.int()).openapi({ description: 'How long the last attempt took.' }),
    status_code: orNull(z.int()).openapi({ description: 'The status of the last answer.' }),
    error: orNull(z.object({ code: z.string(), message: z.string() })).openapi({
      description: 'Why the last attempt failed.',
    }),
    answer: orNull(z.string()).openapi({ description: 'The beginning of the last answer.' }),
    payload: jsonObject('The body: `type`, `timestamp` and `data`.'),
  })
  .openapi('WebhookDelivery');
export const WebhookDeliveryList = z.object({ data: z.array(WebhookDelivery) }).openapi('WebhookDeliveryList');
