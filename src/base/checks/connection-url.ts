import pg from 'pg';
import { LanefoldError } from '../errors.ts';

/** libpq tries hosts that are separated by commas, one after the other. The driver takes them for a name, or for no URL. */
function namesSeveralHosts(url: string): boolean {
  const [scheme = '', authority = ''] = /^postgres(?:ql)?:(?:\/\/([^/?#]*))?/i.exec(url) ?? [];
  if (scheme === '') return false;
  if (authority.slice(authority.lastIndexOf('@') + 1).includes(',')) return true;
  const query = url.slice(url.indexOf('?') + 1).split('#', 1)[0]!;
  return query.split('&').some((part) => /^host=.*(?:,|%2c)/is.test(part));
}

/**
 * Rejects anything that is not a PostgreSQL URL with one host, before the driver reads it as a host name.
 *
 * @param source where the URL comes from, for the message
 * @throws LanefoldError `invalid_input`
 */
export function checkDatabaseUrl(url: string, source: string): void {
  if (namesSeveralHosts(url)) {
    throw new LanefoldError('invalid_input', `${source} names several hosts.`, {
      hint: 'The driver connects to one: name a proxy that follows the primary, such as HAProxy beside Patroni.',
    });
  }
  check(url, source, ['postgres:', 'postgresql:'], 'postgresql://user:password@host:5432/database', () => {
    // the driver accepts more than the URL standard, for example a socket without a host
    new pg.Client({ connectionString: url });
  });
}

/** Rejects anything that is not a Redis URL. @throws LanefoldError `invalid_input` */
export const checkRedisUrl = (url: string, source: string): void =>
  check(url, source, ['redis:', 'rediss:', 'redis+cluster:', 'rediss+cluster:'], 'redis://:password@host:6379', () => {
    // a cluster URL lists nodes separated by commas; the code that connects to them parses it
    if (!/^rediss?\+cluster:/i.test(url)) new URL(url);
  });

/**
 * A checked URL of PostgreSQL without its password, to be shown. The rest stays as it was written: the driver accepts more
 * than the URL standard knows.
 */
export function withoutPassword(url: string): string {
  const start = url.indexOf('://') + 3;
  const [, authority, path] = /^([^/?#]*)([^?]*)/.exec(url.slice(start)) as unknown as [string, string, string];
  const query = url.slice(start + authority.length + path.length + 1);
  const at = authority.lastIndexOf('@');
  const user = at === -1 ? '' : `${authority.slice(0, at).split(':')[0]}@`;
  const kept = query.split('&').filter((pair) => pair !== '' && !/^(?:ssl)?password=/i.test(pair));
  const shown = `${url.slice(0, start)}${user}${authority.slice(at + 1)}${path}`;
  return kept.length > 0 ? `${shown}?${kept.join('&')}` : shown;
}

function check(url: string, source: string, schemes: string[], example: string, read: () => void): void {
  const scheme = /^[a-z][a-z0-9+.-]*:(?=\/\/)/i.exec(url)?.[0].toLowerCase();
  const known = scheme !== undefined && schemes.includes(scheme);
  if (known && succeeds(read)) return;
  // show only the scheme: the rest may contain a password
  const what = scheme && !known ? `has the scheme ${JSON.stringify(scheme)}` : 'is not a valid URL';
  throw new LanefoldError('invalid_input', `${source} ${what}.`, {
    hint:
      `Use ${schemes.map((scheme) => `${scheme}//`).join(' or ')}, for example ${example}. ` +
      'Percent-encode special characters in the user and password: @ is %40, / is %2F, # is %23.',
  });
}

function succeeds(read: () => void): boolean {
  try {
    read();
    return true;
  } catch {
    return false;
  }
}
