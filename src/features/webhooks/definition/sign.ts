import { Webhook } from 'standardwebhooks';

/** The headers of Standard Webhooks, with a signature for each secret. */
export const signedHeaders = (id: string, at: Date, body: string, secrets: readonly string[]) => ({
  'webhook-id': id,
  'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
  'webhook-signature': secrets.map((secret) => new Webhook(secret).sign(id, at, body)).join(' '),
});
