import net, { type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';

interface Target {
  port: number;
  /** Default 127.0.0.1. */
  host?: string;
}

/** A TCP proxy in front of a service that can go silent, as a network does. */
export interface Proxy {
  port: number;
  /**
   * Drops all data, or only responses. Connections look alive: neither side gets an error, and new connections are
   * accepted but stay silent.
   */
  silence(responsesOnly: boolean): void;
  /** Drops all data of the existing connections until they end; new ones work. */
  swallow(): void;
  /** Resets every connection, and each new one immediately. */
  refuse(): void;
  /** Resets every connection and forwards data again. */
  reset(): void;
  close(): Promise<void>;
}

/** @param target address of the service, read for each connection because a restart may move it */
export async function startProxy(target: () => Target): Promise<Proxy> {
  const pairs = new Set<{ client: net.Socket; upstream: net.Socket; swallowed: boolean }>();
  let dropped: 'nothing' | 'responses' | 'everything' = 'nothing';
  let refusing = false;
  const server = net.createServer((client) => {
    if (refusing) return void client.resetAndDestroy();
    const upstream = net.connect({ host: '127.0.0.1', ...target(), noDelay: true });
    const pair = { client, upstream, swallowed: false };
    pairs.add(pair);
    client.setNoDelay(true);
    const end = () => {
      pairs.delete(pair);
      client.destroy();
      upstream.destroy();
    };
    for (const socket of [client, upstream]) socket.on('error', end).on('close', end);
    client.on('data', (data) => dropped !== 'everything' && !pair.swallowed && upstream.write(data));
    upstream.on('data', (data) => dropped === 'nothing' && !pair.swallowed && client.write(data));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const resetAll = () => {
    for (const { client, upstream } of pairs) {
      client.resetAndDestroy();
      upstream.destroy();
    }
  };
  const reset = () => {
    dropped = 'nothing';
    refusing = false;
    resetAll();
  };
  return {
    port: (server.address() as net.AddressInfo).port,
    silence: (responsesOnly) => void (dropped = responsesOnly ? 'responses' : 'everything'),
    swallow() {
      for (const pair of pairs) pair.swallowed = true;
    },
    refuse() {
      refusing = true;
      resetAll();
    },
    reset,
    close: () =>
      new Promise((resolve) => {
        reset();
        server.close(() => resolve());
      }),
  };
}

/** Serves on a free port of this machine until it is closed. A request whose answer fails loses its connection. */
export async function startLocalServer(
  answer: (request: IncomingMessage, response: ServerResponse) => Promise<void>,
): Promise<{ url: string; close(): Promise<void> }> {
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
