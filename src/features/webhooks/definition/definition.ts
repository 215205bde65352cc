/** What an endpoint may be told. `webhook.test` comes only when you ask for it. */
export type WebhookType =
  | 'run.completed'
  | 'run.failed'
  | 'run.cancelled'
  | 'approval.requested'
  | 'wait.started'
  | 'limit.exhausted'
  | 'schedule.missed'
  | 'monitor.low'
  | 'monitor.recovered';
export const webhookTypes = [
  ...(['run.completed', 'run.failed', 'run.cancelled'] as const),
  ...(['approval.requested', 'wait.started', 'limit.exhausted', 'schedule.missed'] as const),
  ...(['monitor.low', 'monitor.recovered'] as const),
] as const satisfies WebhookType[];

/** An endpoint, as you set it. */
export interface WebhookDefinition {
  /** An `https:` URL at a public address. */
  url: string;
  /** The types of events it wants; default: all. */
  types?: WebhookType[];
  /** The agents whose events it wants; default: all. */
  agents?: string[];
  /**
   * The events of a thread come one after the other: the next is sent once the one before is delivered or has failed for
   * good. Default false. A change applies to later events.
   */
  ordered?: boolean;
  /** `run.completed` includes the result of the run, up to 64 KiB. Default false. */
  includeResult?: boolean;
}

/** Why an endpoint is paused: by hand, after many failures, or because it answered 410 Gone. */
export type PauseReason = 'manual' | 'failures' | 'gone';

/** `dropped`: given up, because too many were waiting for a paused or failing endpoint. */
export type DeliveryStatus = 'pending' | 'delivered' | 'failed' | 'dropped';
export const deliveryStatuses = ['pending', 'delivered', 'failed', 'dropped'] as const satisfies DeliveryStatus[];
