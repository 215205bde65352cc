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

/** A free port of 127.0.0.1, the wanted one if possible. Another process may still take it first. */
export async function freePort(wanted?: number): Promise<number> {
  const port = (wanted ? await tryPort(wanted) : undefined) ?? (await tryPort(0));
  if (port === undefined) throw new Error('cannot listen on any port of 127.0.0.1');
  return port;
}
