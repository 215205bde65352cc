import type { DeliveryRow } from '../store/deliveries.ts';
import type { WebhookRow } from '../store/webhooks.ts';
import type { DeliveryStatus, WebhookDefinition } from '../definition/definition.ts';

/** An endpoint with its state. */
export interface ListedWebhook extends Omit<WebhookRow, 'id' | 'tenantId'> {
  /** The tenant whose events it gets. */
  tenant: string;
}

/** An endpoint that was just set. */
export interface SetWebhookResult extends ListedWebhook {
  /** The secret of a new endpoint. It is shown only here: keep it. */
  secret?: string;
}

/** What was sent to an endpoint, or will be. */
export type WebhookDelivery = DeliveryRow;

export interface WebhookOwner {
  /** The tenant of the endpoint; default: the tenant of the library, else `default`. */
  tenant?: string;
  /** Who changes it, for the audit; default `operator`. */
  by?: string;
}

export interface RotateWebhookOptions extends WebhookOwner {
  /** How long the secrets before stay valid, from 0 to 30 days; default one day. Both signatures are sent until then. */
  keepMs?: number;
}

export interface DeliveriesQuery extends Pick<WebhookOwner, 'tenant'> {
  status?: DeliveryStatus;
  /** From 1 to 1,000; default 50. */
  limit?: number;
}

export interface ReplayWebhookOptions extends WebhookOwner {
  /** One delivery. */
  id?: string;
  /** All failed or dropped deliveries of events since then: the newest 1,000, in the order in which they happened. */
  since?: Date;
}

export interface Webhooks {
  /**
   * Sets or replaces an endpoint. What is paused stays paused. Returns the secret of a new one.
   *
   * @throws LanefoldError `invalid_id`; `invalid_input`, `details.field` names the field
   */
  set(name: string, definition: WebhookDefinition, on?: WebhookOwner): Promise<SetWebhookResult>;
  /** @throws LanefoldError `webhook_not_found` */
  get(name: string, on?: Pick<WebhookOwner, 'tenant'>): Promise<ListedWebhook>;
  /** Sorted by tenant and name. The library of one tenant lists only that tenant's endpoints. */
  list(): Promise<ListedWebhook[]>;
  /** Removes an endpoint with its deliveries; what was not delivered yet is not sent. @throws LanefoldError `webhook_not_found` */
  remove(name: string, on?: WebhookOwner): Promise<void>;
  /** Gives it a new secret, and returns it. @throws LanefoldError `webhook_not_found` */
  rotate(name: string, options?: RotateWebhookOptions): Promise<{ secret: string }>;
  /** Sends nothing until it is resumed; events are kept. @throws LanefoldError `webhook_not_found` */
  pause(name: string, on?: WebhookOwner): Promise<ListedWebhook>;
  /** Goes on, with what was not delivered meanwhile. @throws LanefoldError `webhook_not_found` */
  resume(name: string, on?: WebhookOwner): Promise<ListedWebhook>;
  /** Its deliveries and how it answered, newest first. @throws LanefoldError `webhook_not_found` */
  deliveries(name: string, query?: DeliveriesQuery): Promise<WebhookDelivery[]>;
  /**
   * Sends one delivery again, or all failed and dropped ones, under the same `webhook-id`. Returns how many. A delivery that
   * is being sent, is in the queue, or waits for an earlier one is left alone.
   *
   * @throws LanefoldError `webhook_not_found`, `delivery_not_found`
   */
  replay(name: string, options: ReplayWebhookOptions): Promise<{ replayed: number }>;
  /** Sends an event of the type `webhook.test`. Returns the id of its delivery. @throws LanefoldError `webhook_not_found` */
  test(name: string, on?: WebhookOwner): Promise<{ id: string }>;
}
