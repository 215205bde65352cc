import type net from 'node:net';

/** Makes `server` listen on a free local port and resolves with the URL of `service`, changed to that address. */
export async function listenFor(server: net.Server, service: string): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = new URL(service);
  url.hostname = '127.0.0.1';
  url.port = String((server.address() as net.AddressInfo).port);
  return url.href;
}
