import net from 'node:net';
import { listenFor } from './listen.ts';

export interface Outage {
  /** The URL of the service, by way of a line that can be cut. */
  url: string;
  /** Nothing is answered any more, and nothing refused. */
  begin(): void;
  /** The line is as before; connections of the time of the outage are lost. */
  end(): void;
  close(): Promise<void>;
}

/** A line to a service that may fall silent, as where a host or its network is gone. */
export async function startOutage(service: string): Promise<Outage> {
  const target = new URL(service);
  const sockets = new Set<net.Socket>();
  let silent = false;
  const hangUp = () => sockets.forEach((socket) => socket.destroy());
  const server = net.createServer((client) => {
    const upstream = net.connect(Number(target.port || 6379), target.hostname);
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from);
      from.on('data', (data) => silent || to.write(data));
      from.on('error', () => {});
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
    }
  });
  const url = await listenFor(server, service);
  return {
    url,
    begin: () => void (silent = true),
    end: () => {
      silent = false;
      hangUp();
    },
    close: () => {
      hangUp();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
