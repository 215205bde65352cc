import type { Receiver } from '../services/receiver.ts';
import type { Client } from './client.ts';
import { persist } from './persist.ts';

/** One whose events of a thread come one after the other, and one whose do not. */
export const webhooks = [
  { name: 'chaos-plain', ordered: false },
  { name: 'chaos-ordered', ordered: true },
] as const;

/** Sets the webhooks, before there are runs that they could miss. */
export async function setWebhooks({ lanefold, signal }: Client, receiver: Receiver): Promise<void> {
  const types = ['run.completed' as const, 'run.failed' as const, 'run.cancelled' as const];
  for (const { name, ordered } of webhooks) {
    const url = `${receiver.url}/${name}`;
    const { secret } = await persist(() => lanefold.webhooks.set(name, { url, types, ordered }), signal);
    // the answer with the secret of a new webhook may have been lost
    const known = secret ?? (await persist(() => lanefold.webhooks.rotate(name), signal)).secret;
    receiver.trust(name, known);
  }
}

/** Sends what waits for another attempt at once, which may be hours away. */
export async function hurryWebhooks({ lanefold, signal }: Client): Promise<void> {
  for (const { name } of webhooks) {
    const waiting = await persist(() => lanefold.webhooks.deliveries(name, { status: 'pending', limit: 200 }), signal);
    const later = waiting.filter(
      ({ nextAt, attempts }) => attempts > 0 && nextAt && nextAt.getTime() > Date.now() + 1_000,
    );
    for (const { id } of later) await persist(() => lanefold.webhooks.replay(name, { id }), signal);
  }
}
