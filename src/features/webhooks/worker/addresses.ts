import { lookup, promises, type LookupAddress } from 'node:dns';
import { promisify } from 'node:util';
import pLimit from 'p-limit';
import { within, after } from '../../../base/common/timer.ts';
import { isIP, type LookupFunction } from 'node:net';
import { networkInterfaces } from 'node:os';
import { isPublic, isSame } from '../definition/url.ts';

/** Finds the addresses of a host; rejects if it has none. */
export type Resolver = (host: string) => Promise<LookupAddress[]>;

/** How long all name servers together may take, in ms. */
const limitMs = 5_000;
/** For one question to one server, in ms; doubled at the second try. */
const questionMs = 1_500;

/**
 * Asks the name servers of this machine over sockets. `dns.lookup` would wait in one of libuv's four threads: a few names
 * whose servers do not answer would hold up every file, compression and lookup of the process.
 */
export const nameServers =
  (options: { servers?: string[]; limitMs?: number } = {}): Resolver =>
  async (host) => {
    const { servers, limitMs: limit = limitMs } = options;
    const resolver = new promises.Resolver({ timeout: questionMs, tries: 2 });
    if (servers) resolver.setServers(servers);
    let late = false;
    const patience = after(limit, () => {
      late = true;
      resolver.cancel();
    });
    const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
    patience.cancel();
    const found = answers.flatMap((answer, i) =>
      answer.status === 'fulfilled' ? answer.value.map((address) => ({ address, family: i === 0 ? 4 : 6 })) : [],
    );
    if (found.length > 0) return found;
    if (late) throw new Error(`no name server answered within ${limit} ms`);
    const errors = answers.flatMap((answer) =>
      answer.status === 'rejected' ? [answer.reason as NodeJS.ErrnoException] : [],
    );
    // a host that has no address of one family says nothing about the other
    throw errors.find(({ code }) => code !== 'ENODATA') ?? errors[0]!;
  };

/** One at a time, so that it occupies one thread at most. */
const oneLookup = pLimit(1);
const system: Resolver = (host) =>
  within(
    limitMs,
    oneLookup(() => promisify(lookup)(host, { all: true, verbatim: true })),
  );

const asked = nameServers();
/** Names of this machine by definition (RFC 6761), which not every name server knows. */
export const isLocalhost = (host: string): boolean => /(^|\.)localhost\.?$/.test(host);

/**
 * Also finds what only the machine knows: names in `/etc/hosts`, such as `localhost`, and short names of a cluster. For
 * private addresses; a public host is known to name servers.
 */
export const nameServersAndHosts: Resolver = (host) =>
  isLocalhost(host) || !host.includes('.') ? system(host) : asked(host).catch(() => system(host));

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
