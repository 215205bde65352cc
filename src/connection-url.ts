import { LanefoldError } from './errors.ts';

/**
 * Refuses what is no URL of PostgreSQL, before a driver makes a host name of it.
 *
 * @param source where the URL comes from, for the message
 * @throws LanefoldError `invalid_input`
 */
export const checkDatabaseUrl = (url: string, source: string): void =>
  check(url, source, ['postgres:', 'postgresql:'], 'postgresql://user:password@host:5432/database');

/** Refuses what is no URL of Redis. @throws LanefoldError `invalid_input` */
export const checkRedisUrl = (url: string, source: string): void =>
  check(url, source, ['redis:', 'rediss:', 'redis+cluster:', 'rediss+cluster:'], 'redis://:password@host:6379');

function check(url: string, source: string, schemes: string[], example: string): void {
  const scheme = /^[a-z][a-z0-9+.-]*:(?=\/\/)/i.exec(url)?.[0].toLowerCase();
  if (scheme && schemes.includes(scheme)) return;
  // the rest may hold a password
  const what = scheme ? `has the scheme ${JSON.stringify(scheme)}` : 'is not a URL';
  throw new LanefoldError('invalid_input', `${source} ${what}.`, {
    hint: `Use ${schemes.map((known) => `${known}//`).join(' or ')}, for example ${example}.`,
  });
}
