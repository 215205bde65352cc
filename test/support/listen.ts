import type net from 'node:net';

/** Has a server listen on a free port of this machine, in the place of the service at `url`. Resolves with its own URL. */
export async function listenFor(server: net.Server, service: string): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = new URL(service);
  url.hostname = '127.0.0.1';
  url.port = String((server.address() as net.AddressInfo).port);
  return url.href;
}
