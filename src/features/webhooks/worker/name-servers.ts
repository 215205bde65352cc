import { lookup, promises, type LookupAddress } from 'node:dns';
import { promisify } from 'node:util';
import pLimit from 'p-limit';
import { within, after } from '../../../base/common/timer.ts';

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
