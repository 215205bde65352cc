import net from 'node:net';
import { listenFor } from '../support/listen.ts';

export interface CuttingProxy {
  url: string;
  /** How many connections it has cut. */
  cuts(): number;
  close(): void;
}

/**
 * Passes connections to the server at `target`, and cuts each one after as many bytes of answers as `lengths` says: with a
 * reset, or as if the server had ended it. Undefined: it is not cut.
 */
export async function cuttingProxy(target: string, length: () => number | undefined): Promise<CuttingProxy> {
  const { port, hostname: host } = new URL(target);
  let cuts = 0;
  const open = new Set<net.Socket>();
  const server = net.createServer((client) => {
    const upstream = net.connect(Number(port), host);
    for (const socket of [client, upstream]) {
      open.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        open.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    client.pipe(upstream);
    let left = length() ?? Infinity;
    upstream.on('data', (bytes: Buffer) => {
      if (left <= 0) return;
      if (bytes.length < left) {
        left -= bytes.length;
        client.write(bytes);
        return;
      }
      client.write(bytes.subarray(0, left), () => (cuts % 2 === 0 ? client.resetAndDestroy() : client.end()));
      left = 0;
      cuts += 1;
      upstream.destroy();
    });
  });
  const url = await listenFor(server, 'http://proxy');
  return {
    url: url.replace(/\/$/, ''),
    cuts: () => cuts,
    close() {
      server.close();
      for (const socket of open) socket.destroy();
    },
  };
}
