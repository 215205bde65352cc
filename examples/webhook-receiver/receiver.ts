import { createServer } from 'node:http';
import { Webhook } from 'standardwebhooks';

/** Handles events that were signed with the secret, each once. */
export function receiver(secret: () => string, handle: (event: { type: string; data: unknown }) => void) {
  // in production: a table with a unique key, in the transaction of the work
  const seen = new Set<string>();
  return createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const headers = request.headers as Record<string, string>;
      let event: { type: string; data: unknown };
      try {
        // the raw body: parsing it and writing it again may change it
        event = new Webhook(secret()).verify(Buffer.concat(chunks), headers) as typeof event;
      } catch {
        response.writeHead(401).end();
        return;
      }
      const id = headers['webhook-id']!;
      if (!seen.has(id)) handle(event);
      seen.add(id);
      response.writeHead(204).end();
    });
  });
}
