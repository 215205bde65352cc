import net from 'node:net';

export interface Cutter {
  url: string;
  /** How many connections it has cut. */
  cuts: number;
  /** From now on it cuts none. */
  heal(): void;
  /** Leads to another server from the next connection on. */
  lead(to: string): void;
  close(): void;
}

/**
 * A way to a server that cuts connections, each after a number of bytes in either direction: within requests, within
 * responses, and between a request and its response.
 *
 * @param budget how many bytes the next connection carries
 */
export async function startCutter(to: string, budget: () => number): Promise<Cutter> {
  let target = new URL(to);
  let whole = false;
  const sockets = new Set<net.Socket>();
  const server = net.createServer((client) => {
    const upstream = net.connect(Number(target.port), target.hostname);
    let left = budget();
    const end = () => {
      client.destroy();
      upstream.destroy();
    };
    const carry = (from: net.Socket, on: net.Socket) =>
      from.on('data', (data: Buffer) => {
        if (whole || data.byteLength <= left) {
          left -= data.byteLength;
          on.write(data);
          return;
        }
        cutter.cuts += 1;
        from.pause();
        // what was carried arrives, and no more
        on.write(data.subarray(0, left), end);
      });
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', end).on('close', () => {
        sockets.delete(socket);
        end();
      });
    }
    carry(client, upstream);
    carry(upstream, client);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const cutter: Cutter = {
    url: `http://127.0.0.1:${(server.address() as net.AddressInfo).port}`,
    cuts: 0,
    heal: () => void (whole = true),
    lead: (next) => void (target = new URL(next)),
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
  return cutter;
}
