import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Random } from '../schedule.ts';
import { parseJson } from '../../../base/common/json.ts';
import { startLocalServer } from './proxy.ts';

/** A request of a webhook in the receiver's own log. */
export interface WebhookRequest {
  webhook: string;
  id: string;
  type: string;
  thread_id: string;
  run_id: string;
  /** Whether one of the webhook's secrets signed it. */
  signed: boolean;
  /** Whether the receiver answered that it has the event. */
  accepted: boolean;
}

/** A program that receives webhooks, and sometimes fails. Its path names the webhook. */
export interface Receiver {
  url: string;
  requests: WebhookRequest[];
  /** Adds a secret of a webhook. */
  trust(webhook: string, secret: string): void;
  /** It does not fail any more. */
  heal(): void;
  close(): Promise<void>;
}

export async function startReceiver(random: Random): Promise<Receiver> {
  const requests: WebhookRequest[] = [];
  const secrets = new Map<string, string[]>();
  let fails = true;
  const receive = async (request: IncomingMessage, response: ServerResponse) => {
    const webhook = request.url!.slice(1);
    const body = await text(request);
    const { type, data } = parseJson(body) as { type: string; data: { thread_id: string; run_id: string } };
    const signed = (secrets.get(webhook) ?? []).some((secret) => isSigned(request, body, secret));
    const mood = fails ? random.next() : 1;
    const received = {
      webhook,
      id: String(request.headers['webhook-id']),
      type,
      ...data,
      signed,
      accepted: mood >= 0.25,
    };
    requests.push(pick(received));
    if (mood < 0.05) return void response.destroy();
    // no answer at all: the sender gives up
    if (mood < 0.1) return;
    response.writeHead(mood < 0.25 ? 500 : 204).end();
  };
  const server = await startLocalServer(receive);
  return {
    url: server.url,
    requests,
    trust: (webhook, secret) => void secrets.set(webhook, [...(secrets.get(webhook) ?? []), secret]),
    heal: () => void (fails = false),
    close: server.close,
  };
}

const pick = ({ webhook, id, type, thread_id, run_id, signed, accepted }: WebhookRequest): WebhookRequest => ({
  webhook,
  id,
  type,
  thread_id,
  run_id,
  signed,
  accepted,
});

/** By the text of Standard Webhooks, not by the library that the product signs with. */
function isSigned({ headers }: IncomingMessage, body: string, secret: string): boolean {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const content = `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${body}`;
  const expected = createHmac('sha256', key).update(content).digest();
  const given = String(headers['webhook-signature']).split(' ');
  return given.some((signature) => {
    const found = Buffer.from(signature.replace(/^v1,/, ''), 'base64');
    return found.length === expected.length && timingSafeEqual(found, expected);
  });
}
