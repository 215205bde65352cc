import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request that a receiver got. */
export interface Received {
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
  event: { type: string; timestamp: string; data: Record<string, unknown> };
}

export interface Receiver {
  url: string;
  /** In the order in which they came. */
  received: Received[];
  /** How it answers; by default with 200. */
  respond: (request: Received, response: ServerResponse) => void;
  /** What came to a path. */
  at(path: string): Received[];
  close(): Promise<void>;
}

export const answerWith =
  (status: number, text = '') =>
  (_: Received, response: ServerResponse): void =>
    void response.writeHead(status).end(text);

/** A receiver of webhooks on the loopback interface. @param port to come back on the same one */
export async function startReceiver(port = 0): Promise<Receiver> {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
    request.on('end', () => {
      const { headers, url: path = '/' } = request;
      const one = { path, headers, body, event: JSON.parse(body) as Received['event'] };
      received.push(one);
      receiver.respond(one, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const receiver: Receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    respond: answerWith(200),
    at: (path) => received.filter((one) => one.path === path),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return receiver;
}
