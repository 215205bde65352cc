import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { LanefoldError } from '../../../base/errors.ts';

/** Shorter parts are no secrets, and a text has them anyway. */
const shortest = 8;

/**
 * Replaces the path and the parameters of an endpoint's URL in a text of its receiver: a redirect or an error page repeats
 * them, and they may be all that it takes to post to the receiver.
 */
export function hideUrl(text: string, { pathname, search, searchParams }: URL): string {
  const parts = [pathname + search, pathname, search, ...pathname.split('/'), ...[...searchParams].flat()];
  const written = new Set(parts.flatMap((part) => [part, decoded(part), encodeURIComponent(part)]));
  return [...written]
    .filter(({ length }) => length >= shortest)
    .sort((a, b) => b.length - a.length)
    .reduce((rest, part) => rest.replaceAll(part, '…'), text);
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** All that has been assigned to hosts on the internet. The rest of IPv6 is unassigned, or leads to other addresses. */
const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3');

/** In a range of the internet, but inside a cloud: the agent of Azure, which hands out settings of the machine. */
const ofClouds = ['168.63.129.16'];

/**
 * Whether an address belongs to a host on the internet: not to this machine, a private network, a cloud's metadata, or a
 * range that leads to another address, such as NAT64, 6to4 or Teredo. An IPv4 address written as IPv6 counts as IPv4.
 */
export function isPublic(address: string): boolean {
  // one with a zone is of an interface of this machine
  if (isIP(address) === 0 || address.includes('%')) return false;
  const found = read(address);
  if (found.range() !== 'unicast' || ofClouds.includes(found.toString())) return false;
  return found.kind() === 'ipv4' || found.match(globalUnicast);
}

/** Whether two addresses are the same, however they are written. */
export const isSame = (one: string, other: string): boolean => read(one).toString() === read(other).toString();

const read = (address: string): ipaddr.IPv4 | ipaddr.IPv6 => ipaddr.process(canonical(address));

/** `::8.8.8.8` is not the mapped address `::ffff:8.8.8.8`, for which the parser takes it. */
const canonical = (address: string): string =>
  isIP(address) === 6 ? new URL(`http://[${address}]`).hostname.slice(1, -1) : address;

export const longestUrl = 2_000;

/** Reads the URL of an endpoint, or says what is wrong with it. @param anywhere `http:` is allowed too */
export function readUrl(text: unknown, anywhere: boolean): { url: URL; problem?: never } | { problem: string } {
  if (typeof text !== 'string' || !URL.canParse(text)) return { problem: 'must be a URL' };
  const url = new URL(text);
  if (text.length > longestUrl) return { problem: `must have at most ${longestUrl} characters` };
  if (url.protocol !== 'https:' && !(anywhere && url.protocol === 'http:'))
    return { problem: `must begin with https:${anywhere ? ' or http:' : ''}` };
  if (url.username || url.password)
    return { problem: 'must not have a user or password: verify the signature instead' };
  if (url.hash) return { problem: 'must not have a fragment' };
  return { url };
}

/** The error of a definition. */
export const invalid = (field: string, problem: string): LanefoldError =>
  new LanefoldError('invalid_input', `The webhook is invalid: ${field} ${problem}.`, {
    hint: 'Nothing was written. Correct the field, and set the webhook again.',
    details: { field, problem },
  });
