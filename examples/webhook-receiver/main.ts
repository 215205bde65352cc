import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createLanefold, defineAgent } from 'lanefold';
import { model } from '../model.ts';
import { stopSignal } from '../stop.ts';
import { receiver } from './receiver.ts';

let secret = '';
const server = receiver(
  () => secret,
  ({ type, data }) => console.log(`${type} ${JSON.stringify(data)}`),
).listen(0, '127.0.0.1');
await once(server, 'listening');

const lanefold = await createLanefold({
  agents: [defineAgent({ name: 'clerk', model })],
  migrate: true,
  // the receiver is on this machine
  privateWebhooks: true,
});
const { port } = server.address() as AddressInfo;
await lanefold.webhooks.set('orders', { url: `http://127.0.0.1:${port}/`, includeResult: true });
// this program keeps no secret between two starts
({ secret } = await lanefold.webhooks.rotate('orders', { keepMs: 0 }));
await lanefold.startWorker();
await lanefold.runs.enqueue({ agent: 'clerk', input: 'Where is my order?' });

await stopSignal();
await lanefold.close();
server.close();
