import type { LookupAddress } from 'node:dns';
import http from 'node:http';
import https from 'node:https';
import { pinned } from './resolve.ts';

/** How long a connection is kept, in ms: less than receivers keep theirs, so that few end it under a request. */
const keptMs = 1_000;

/** Names a kept connection also by the addresses that were checked: it is used again only for a host that has the same. */
const named =
  <Options extends object>(getName: (options?: Options) => string) =>
  (options?: Options): string =>
    `${getName(options)} ${String((options as { checked?: string } | undefined)?.checked)}`;

const kept = { keepAlive: true, timeout: keptMs };
const agents = { 'http:': new http.Agent(kept), 'https:': new https.Agent(kept) };
for (const agent of Object.values(agents)) agent.getName = named(agent.getName.bind(agent));

export interface PostOptions {
  signal: AbortSignal;
  /** The addresses that the host has now; the connection goes to one of them. */
  addresses: readonly LookupAddress[];
}

/** Posts a body. Returns undefined if a kept connection was no longer one. */
export function post(
  url: URL,
  body: string,
  headers: Record<string, string>,
  { signal, addresses }: PostOptions,
): Promise<http.IncomingMessage | undefined> {
  const agent = agents[url.protocol as keyof typeof agents];
  const checked = addresses
    .map(({ address }) => address)
    .sort()
    .join(' ');
  const options = {
    ...{ signal, agent, checked, method: 'POST', lookup: pinned(addresses), rejectUnauthorized: true },
    headers: { ...headers, 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) },
  };
  return new Promise((resolve, reject) => {
    const request = (url.protocol === 'https:' ? https : http).request(url, options, resolve);
    request.on('error', (error: NodeJS.ErrnoException) => {
      if (request.reusedSocket && (error.code === 'ECONNRESET' || error.code === 'EPIPE')) {
        // the others to this host may have ended, too
        for (const [name, sockets] of Object.entries(agent.freeSockets))
          if (name.startsWith(`${url.hostname}:`)) for (const socket of sockets ?? []) socket.destroy();
        resolve(undefined);
      } else reject(error);
    });
    request.end(body);
  });
}
