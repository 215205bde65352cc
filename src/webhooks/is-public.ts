import ipaddr from 'ipaddr.js';

/**
 * Whether an address belongs to a host on the internet: not to this machine, a private network, a cloud's metadata, or a
 * range that leads to another address, such as NAT64. An IPv4 address written as IPv6 counts as IPv4.
 */
export const isPublic = (address: string): boolean =>
  ipaddr.isValid(address) && ipaddr.process(address).range() === 'unicast';
