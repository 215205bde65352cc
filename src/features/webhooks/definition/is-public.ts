import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

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
