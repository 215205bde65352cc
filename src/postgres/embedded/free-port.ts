import { createServer, type AddressInfo } from 'node:net';

function tryPort(port: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(undefined));
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => {
      const { port: given } = server.address() as AddressInfo;
      server.close(() => resolve(given));
    });
  });
}

/** A port of 127.0.0.1 nobody listens on: the wanted one if it is free. Another may take it before we do. */
export async function freePort(wanted?: number): Promise<number> {
  const port = (wanted ? await tryPort(wanted) : undefined) ?? (await tryPort(0));
  if (port === undefined) throw new Error('no port of 127.0.0.1 can be listened on');
  return port;
}
