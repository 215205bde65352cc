import net from 'node:net';

/** A TCP proxy before one service for one client process, which can fall silent as a network does. */
export interface Proxy {
  port: number;
  /**
   * From now on nothing arrives, in one direction or both, and nobody is told: connections look alive, new ones are
   * accepted and stay silent too.
   */
  silence(answersOnly: boolean): void;
  /** Breaks every connection and forwards again. */
  reset(): void;
  close(): Promise<void>;
}

/** @param target the port of the service on 127.0.0.1, asked for at each connection, because a restart may move it */
export async function startProxy(target: () => number): Promise<Proxy> {
  const pairs = new Set<{ client: net.Socket; upstream: net.Socket }>();
  let lost: 'nothing' | 'answers' | 'everything' = 'nothing';
  const server = net.createServer((client) => {
    const upstream = net.connect({ port: target(), host: '127.0.0.1', noDelay: true });
    const pair = { client, upstream };
    pairs.add(pair);
    client.setNoDelay(true);
    const end = () => {
      pairs.delete(pair);
      client.destroy();
      upstream.destroy();
    };
    for (const socket of [client, upstream]) socket.on('error', end).on('close', end);
    client.on('data', (data) => lost !== 'everything' && upstream.write(data));
    upstream.on('data', (data) => lost === 'nothing' && client.write(data));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const reset = () => {
    lost = 'nothing';
    for (const { client, upstream } of pairs) {
      client.resetAndDestroy();
      upstream.destroy();
    }
  };
  return {
    port: (server.address() as net.AddressInfo).port,
    silence: (answersOnly) => void (lost = answersOnly ? 'answers' : 'everything'),
    reset,
    close: () =>
      new Promise((resolve) => {
        reset();
        server.close(() => resolve());
      }),
  };
}
