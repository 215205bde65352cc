import type { ListedWebhook, WebhookDelivery } from '../../features/webhooks/types.ts';
import { table } from './demo/table.ts';

/** Webhooks as a table. */
export const webhookTable = (webhooks: readonly ListedWebhook[]): string[] =>
  table(
    ['name', 'tenant', 'url', 'types', 'state'],
    webhooks.map(({ name, tenant, url, types, ...state }) => [
      ...[name, tenant, url, types.join(' ') || 'all', stateOf(state)],
    ]),
  );

/** Deliveries as a table. */
export const deliveryTable = (deliveries: readonly WebhookDelivery[]): string[] =>
  table(
    ['delivery', 'event', 'time', 'status', 'attempts', 'answer'],
    deliveries.map(({ id, type, createdAt, status, attempts, statusCode, error }) => [
      ...[id, type, createdAt.toISOString(), status, String(attempts), error?.message ?? String(statusCode ?? '')],
    ]),
  );

type State = Pick<ListedWebhook, 'pausedAt' | 'pausedReason' | 'failures' | 'dropped'>;

function stateOf({ pausedAt, pausedReason, failures, dropped }: State): string {
  const state = pausedAt ? `paused (${pausedReason})` : failures > 0 ? `failing (${failures})` : 'ok';
  return dropped > 0 ? `${state}, dropped ${dropped}` : state;
}
