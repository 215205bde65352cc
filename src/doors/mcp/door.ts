import { randomBytes } from 'node:crypto';
import { createApp } from '../app.ts';
import { isBrowserToken } from '../../base/access/browser-token.ts';
import { readKey } from '../../base/access/key.ts';
import { operator, type Principal } from '../../base/access/principal.ts';
import type { Scope } from '../../base/access/scope.ts';
import type { Library } from '../../features/library/library.ts';

/**
 * The HTTP API, called in this process. Everything an MCP client asks for goes through it, so that scopes, tenants,
 * limits and the audit of a key hold here without a second set of checks.
 */
export type Door = (request: Request) => Response | Promise<Response>;

/** A door and the credential that its requests carry. */
export interface Caller {
  door: Door;
  /** A key or token; undefined: the door takes requests without one. */
  credential: string | undefined;
  /** Stands for the caller in derived ids: the id of its key, never the secret. */
  name: string;
  /** Whether its credential allows an operation, for what it is offered; the door decides on each request. */
  may(scope: Scope, operation: string): Promise<boolean>;
}

/** The caller of a request to a server of the HTTP API. */
export const callerAt = ({ keys }: Pick<Library, 'keys'>, door: Door, credential: string | undefined): Caller => ({
  ...{ door, credential },
  name: nameOf(credential),
  may: async (scope, operation) => {
    const holder = await holderOf(keys, credential);
    if (!holder?.scopes.includes(scope)) return false;
    return holder.operations === undefined || Object.hasOwn(holder.operations, operation);
  },
});

/**
 * The caller of a server that acts for one user: with a key or token, what that allows; without one, everything, because
 * its user has the database anyway.
 */
export function ownCaller(lanefold: Library, credential: string | undefined): Caller {
  // a credential that the database does not know may be the key of the server itself
  const apiKey = (credential !== undefined && process.env['LANEFOLD_API_KEY']) || newSecret();
  const app = createApp(lanefold, { apiKey, page: false });
  const given = credential ?? apiKey;
  const caller = callerAt(lanefold, (request) => app.fetch(request), given);
  return { ...caller, name: nameOf(credential) };
}

/** Undefined: the key or token is not valid. */
async function holderOf(
  keys: Library['keys'],
  credential: string | undefined,
): Promise<Pick<Principal, 'scopes' | 'operations'> | undefined> {
  if (credential !== undefined && readKey(credential)) return keys.find(credential);
  if (credential === undefined || !isBrowserToken(credential)) return operator;
  return keys.holder(credential).catch(() => undefined);
}

/** A key that no client can know. */
export const newSecret = (): string => randomBytes(32).toString('base64url');

function nameOf(credential = ''): string {
  const key = readKey(credential);
  if (key) return key.id;
  return isBrowserToken(credential) ? 'token' : 'operator';
}
