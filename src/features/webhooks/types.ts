// Generated from declaration.ts beside it: run `npm run types:api`.

import type { JsonObject } from '../../agent/context/message.ts';

/** `dropped`: given up, because too many were waiting for a paused or failing endpoint. */
export type DeliveryStatus = 'pending' | 'delivered' | 'failed' | 'dropped';

/** An endpoint with its state. */
export interface ListedWebhook {
  name: string;
  /** The tenant whose events it gets. */
  tenant: string;
  /** Where its events go. Keys without the scope `admin` see only the origin. */
  url: string;
  /** The types of events to send; empty: all types. */
  types: WebhookType[];
  /** The agents whose events are sent; empty: all agents. */
  agents: string[];
  /**
   * The events of a thread come one after the other: the next is sent once the one before is delivered or has
   * failed for good. Default false. A change applies to later events.
   */
  ordered: boolean;
  /** Whether `run.completed` includes the result of the run, up to 64 KiB. */
  includeResult: boolean;
  /** The body that is sent instead of the event; null: the event. Keys without the scope `admin` do not see it. */
  template: JsonObject | null;
  /** Since when it is paused. */
  pausedAt: Date | null;
  /** Why: by hand, after many failures, or because it answered 410 Gone. */
  pausedReason: PauseReason | null;
  /** How many attempts in a row have failed. */
  failures: number;
  /** Since when every attempt has failed. */
  failingSince: Date | null;
  /** How many deliveries were dropped because too many were waiting. */
  dropped: number;
  /** Rises with every change. */
  version: number;
  /** When it was first set. */
  createdAt: Date;
  /** When it was last changed. */
  updatedAt: Date;
  /** `operator`, `key:<id>`, `cli:<user>` or `lanefold`. */
  updatedBy: string;
}

/** Why an endpoint is paused: by hand, after many failures, or because it answered 410 Gone. */
export type PauseReason = 'manual' | 'failures' | 'gone';

/** An endpoint that was just set, with the secret if it is a new one. */
export interface SetWebhookResult {
  name: string;
  /** The tenant whose events it gets. */
  tenant: string;
  /** Where its events go. Keys without the scope `admin` see only the origin. */
  url: string;
  /** The types of events to send; empty: all types. */
  types: WebhookType[];
  /** The agents whose events are sent; empty: all agents. */
  agents: string[];
  /**
   * The events of a thread come one after the other: the next is sent once the one before is delivered or has
   * failed for good. Default false. A change applies to later events.
   */
  ordered: boolean;
  /** Whether `run.completed` includes the result of the run, up to 64 KiB. */
  includeResult: boolean;
  /** The body that is sent instead of the event; null: the event. Keys without the scope `admin` do not see it. */
  template: JsonObject | null;
  /** Since when it is paused. */
  pausedAt: Date | null;
  /** Why: by hand, after many failures, or because it answered 410 Gone. */
  pausedReason: PauseReason | null;
  /** How many attempts in a row have failed. */
  failures: number;
  /** Since when every attempt has failed. */
  failingSince: Date | null;
  /** How many deliveries were dropped because too many were waiting. */
  dropped: number;
  /** Rises with every change. */
  version: number;
  /** When it was first set. */
  createdAt: Date;
  /** When it was last changed. */
  updatedAt: Date;
  /** `operator`, `key:<id>`, `cli:<user>` or `lanefold`. */
  updatedBy: string;
  /** The secret for verifying signatures. It is shown only here. */
  secret?: string;
}

/** An endpoint, as you set it. */
export interface WebhookDefinition {
  /** An `https:` URL at a public address. */
  url: string;
  /** The types of events to send; empty: all types. */
  types?: WebhookType[];
  /** The agents whose events are sent; empty: all agents. */
  agents?: string[];
  /**
   * The events of a thread come one after the other: the next is sent once the one before is delivered or has
   * failed for good. Default false. A change applies to later events.
   */
  ordered?: boolean;
  /** Whether `run.completed` includes the result of the run, up to 64 KiB. */
  includeResult?: boolean;
  /**
   * The body to send instead of the event, as Slack or a mail gateway expects it. Texts in it may name `{{id}}`,
   * `{{type}}`, `{{timestamp}}` and fields of `{{data}}`, such as `{{data.agent}}`.
   */
  template?: JsonObject;
}

/** An event that was sent to an endpoint, or will be sent. */
export interface WebhookDelivery {
  /** The `webhook-id` of all its attempts. */
  id: string;
  threadId: string;
  type: string;
  /** `dropped`: given up, because too many were waiting for a paused or failing endpoint. */
  status: DeliveryStatus;
  /** Attempts begun. */
  attempts: number;
  /** When the event happened. */
  createdAt: Date;
  /** When the next attempt is due; null if the delivery is settled or waits for an earlier delivery. */
  nextAt: Date | null;
  /** When the last attempt began. */
  attemptedAt: Date | null;
  /** When it was delivered, failed for good or was dropped. */
  settledAt: Date | null;
  /** How long the last attempt took. */
  durationMs: number | null;
  /** The status of the last answer. */
  statusCode: number | null;
  /** Why the last attempt failed. */
  error: {
    code: string;
    message: string;
  } | null;
  /** The beginning of the last answer. */
  answer: string | null;
  /** The event: `type`, `timestamp` and `data`. It is the body, unless the webhook has a template. */
  payload: JsonObject;
}

/** The events that an endpoint can get. `webhook.test` comes only if you send a test. */
export type WebhookType =
  | 'run.completed'
  | 'run.failed'
  | 'run.cancelled'
  | 'approval.requested'
  | 'wait.started'
  | 'limit.exhausted'
  | 'schedule.missed'
  | 'monitor.low'
  | 'monitor.recovered'
  | 'alarm.raised'
  | 'alarm.cleared'
  | 'circuit.opened'
  | 'circuit.closed';

export interface Webhooks {
  /** List the webhooks. A key of a tenant sees the webhooks of the tenant. */
  list(): Promise<ListedWebhook[]>;
  /**
   * Get a webhook.
   *
   * @throws LanefoldError `webhook_not_found`
   */
  get(
    name: string,
    options?: {
      /** The tenant of the webhook; default: the tenant of the library, else `default`. */
      tenant?: string;
    },
  ): Promise<ListedWebhook>;
  /**
   * Set or replace a webhook. For a new webhook, the answer has the secret. A paused webhook stays paused.
   *
   * @throws LanefoldError `invalid_input`
   */
  set(
    name: string,
    definition: WebhookDefinition,
    options?: {
      /** The tenant of the webhook; default: the tenant of the library, else `default`. */
      tenant?: string;
      /** Who changes it, for the audit; default `operator`. */
      by?: string;
    },
  ): Promise<SetWebhookResult>;
  /**
   * Remove a webhook and its deliveries. Deliveries that are still open are not sent.
   *
   * @throws LanefoldError `webhook_not_found`
   */
  remove(
    name: string,
    options?: {
      /** The tenant of the webhook; default: the tenant of the library, else `default`. */
      tenant?: string;
      /** Who changes it, for the audit; default `operator`. */
      by?: string;
    },
  ): Promise<void>;
  /**
   * Give a webhook a new secret. As long as earlier secrets are valid, each request has one signature per secret.
   *
   * @throws LanefoldError `webhook_not_found`, `role_unfit`
   */
  rotate(
    name: string,
    options?: {
      /** The tenant of the webhook; default: the tenant of the library, else `default`. */
      tenant?: string;
      /** How long earlier secrets stay valid; default one day. */
      keepMs?: number;
      /** Who changes it, for the audit; default `operator`. */
      by?: string;
    },
  ): Promise<{
    /** The secret for verifying signatures. It is shown only here. */
    secret: string;
  }>;
  /**
   * Pause a webhook. Events are kept until it is resumed.
   *
   * @throws LanefoldError `webhook_not_found`
   */
  pause(
    name: string,
    options?: {
      /** The tenant of the webhook; default: the tenant of the library, else `default`. */
      tenant?: string;
      /** Who changes it, for the audit; default `operator`. */
      by?: string;
    },
  ): Promise<ListedWebhook>;
  /**
   * Resume a paused webhook. The webhook then gets the events that were kept.
   *
   * @throws LanefoldError `webhook_not_found`
   */
  resume(
    name: string,
    options?: {
      /** The tenant of the webhook; default: the tenant of the library, else `default`. */
      tenant?: string;
      /** Who changes it, for the audit; default `operator`. */
      by?: string;
    },
  ): Promise<ListedWebhook>;
  /**
   * Send a test event. Its type is `webhook.test`.
   *
   * @throws LanefoldError `webhook_not_found`
   */
  test(
    name: string,
    options?: {
      /** The tenant of the webhook; default: the tenant of the library, else `default`. */
      tenant?: string;
      /** Who changes it, for the audit; default `operator`. */
      by?: string;
    },
  ): Promise<{
    /** The delivery. */
    id: string;
  }>;
  /**
   * List the deliveries of a webhook, newest first, with the answers.
   *
   * @throws LanefoldError `webhook_not_found`
   */
  deliveries(
    name: string,
    options?: {
      /** The tenant of the webhook; default: the tenant of the library, else `default`. */
      tenant?: string;
      /** `dropped`: given up, because too many were waiting for a paused or failing endpoint. */
      status?: DeliveryStatus;
      /** Maximum number of deliveries; default 50. */
      limit?: number;
    },
  ): Promise<WebhookDelivery[]>;
  /**
   * Sends one delivery again, or the newest 1,000 failed and dropped ones since a time, in the order in which they
   * happened, under the same `webhook-id`. A delivery that is being sent, is in the queue, or waits for an earlier
   * one is left alone.
   *
   * @throws LanefoldError `webhook_not_found`, `delivery_not_found`
   */
  redeliver(
    name: string,
    options?: {
      /** The tenant of the webhook; default: the tenant of the library, else `default`. */
      tenant?: string;
      /** One delivery. */
      id?: string;
      /** All failed and dropped deliveries of events since this time. Set either this field or `id`. */
      since?: Date;
      /** Who changes it, for the audit; default `operator`. */
      by?: string;
    },
  ): Promise<{
    /** How many are sent again. */
    redelivered: number;
  }>;
}
