/** A process that receives webhooks: answers 200 at once. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { serve } from '../support/serve.ts';

export interface ReceiverFigures {
  requests: number;
  connections: number;
  cpuMs: number;
}

let requests = 0;
let connections = 0;
const receiver = createServer((request, response) => {
  requests++;
  request.resume();
  response.writeHead(200, { 'content-length': 0 }).end();
}).on('connection', () => connections++);

serve({
  ready: () => new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve)),
  url: () => `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`,
  figures(): ReceiverFigures {
    const { user, system } = process.cpuUsage();
    return { requests, connections, cpuMs: (user + system) / 1_000 };
  },
  stop() {
    receiver.close();
    receiver.closeAllConnections();
  },
});
