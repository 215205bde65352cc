import { createEndpointHandler, RestatePromise } from '@restatedev/restate-sdk';
import { once } from 'node:events';
import { createServer } from 'node:http2';
import { check, converse } from './workload.js';

// The SDK needs this; Node has it since version 22.
Promise.withResolvers ??= () => {
  const promised = {};
  promised.promise = new Promise((resolve, reject) => Object.assign(promised, { resolve, reject }));
  return promised;
};

const errorsOnly = ({ level }, ...message) => level === 'error' && console.error(...message);

/** A run whose steps Restate journals. */
export const journaled = (ctx, messages) =>
  converse(
    messages,
    (name, action) => ctx.run(name, action),
    (steps) => RestatePromise.all(steps),
  );

/** Serves a definition over HTTP/2 to the Restate server, which calls it for each run that `request` asks for. */
export async function openWith({ server }, definition, request) {
  const endpoint = createServer(createEndpointHandler({ services: [definition], logger: errorsOnly }));
  endpoint.listen(0, '127.0.0.1');
  await once(endpoint, 'listening');
  const registered = await fetch(`${server.admin}/deployments`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ uri: `http://127.0.0.1:${endpoint.address().port}` }),
  });
  if (!registered.ok) throw new Error(`Restate did not register the service: ${await registered.text()}`);
  return {
    run: async () => check(await request()),
    // not awaited: the server's connections stay open until this process ends
    close: async () => void endpoint.close(),
  };
}
