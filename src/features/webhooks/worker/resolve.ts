import type { LookupAddress } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { networkInterfaces } from 'node:os';
import { isPublic, isSame } from '../definition/is-public.ts';
import { isLocalhost, nameServers, nameServersAndHosts, type Resolver } from './name-servers.ts';

/** Why a host may not be called. */
export interface Refused {
  code: 'private_address' | 'unknown_host';
  message: string;
}

const publicNames = nameServers();

/**
 * The addresses of a URL's host, or why it may not be called: one address that is not public is enough, because a name
 * server may mix them. Takes ten seconds at most.
 *
 * @param anywhere private addresses are allowed, and names that only this machine knows
 * @param resolve tests pass their own
 * @param own the addresses of this machine. Those in a public range count as well: what goes to them does not leave the
 * machine, so no firewall in front of it sees it
 */
export async function resolveHost(
  { hostname }: Pick<URL, 'hostname'>,
  anywhere: boolean,
  resolve: Resolver = anywhere ? nameServersAndHosts : publicNames,
  own: () => readonly string[] = ownAddresses,
): Promise<LookupAddress[] | Refused> {
  const host = hostname.replace(/^\[|\]$/g, '');
  if (!anywhere && isLocalhost(host)) return notPublic(host);
  const addresses = isIP(host)
    ? [{ address: host, family: isIP(host) }]
    : await resolve(host).catch((error: NodeJS.ErrnoException) => error.code ?? error.message);
  if (typeof addresses === 'string' || addresses.length === 0)
    return { code: 'unknown_host', message: `The host ${host} has no address (${String(addresses) || 'none'}).` };
  if (anywhere) return addresses;
  const others = addresses.every(({ address }) => isPublic(address) && !own().some((one) => isSame(one, address)));
  return others ? addresses : notPublic(host);
}

const ownAddresses = (): string[] =>
  Object.values(networkInterfaces()).flatMap((addresses) => (addresses ?? []).map(({ address }) => address));

/** Without the address: names inside the operator's network are not for tenants to look up. */
const notPublic = (host: string): Refused => ({
  code: 'private_address',
  message: `The host ${host} has an address that is not public.`,
});

/** A `lookup` that answers with these addresses, so that the connection goes to one that was checked. */
export const pinned = (addresses: readonly LookupAddress[]): LookupFunction =>
  ((_host, options, answer) => {
    if (options.all) answer(null, [...addresses]);
    else answer(null, addresses[0]!.address, addresses[0]!.family);
  }) as LookupFunction;
