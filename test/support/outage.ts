import { startProxy } from '../../src/ops/chaos/services/proxy.ts';

export interface Outage {
  /** URL of the service, through the proxy. */
  url: string;
  /** Starts the outage: the service neither answers nor refuses connections. */
  begin(): void;
  /** Starts an outage in which every connection is reset, as while the service restarts. */
  refuse(): void;
  /** Silences the connections there are, for good; new ones work. */
  swallow(): void;
  /** Ends the outage; existing connections are reset. */
  end(): void;
  close(): Promise<void>;
}

/** Puts a proxy in front of a service to simulate the loss of its host or network. */
export async function startOutage(service: string): Promise<Outage> {
  const target = new URL(service);
  const proxy = await startProxy(() => ({ host: target.hostname, port: Number(target.port || 6379) }));
  const url = new URL(service);
  url.hostname = '127.0.0.1';
  url.port = String(proxy.port);
  const { refuse, swallow, reset: end, close } = proxy;
  return { url: url.href, begin: () => proxy.silence(false), refuse, swallow, end, close };
}
