import type { AgentDefinition } from '../../agent/definition/definition.ts';
import { refuseUnknownKeys, type KeysOf } from '../../base/checks/unknown-keys.ts';
import { assertWhole } from '../../base/checks/values.ts';
import { LanefoldError } from '../../base/errors.ts';
import type { Library } from '../../features/library/library.ts';
import { randomBytes } from 'node:crypto';
import { createApp } from '../app.ts';
import { isBrowserToken } from '../../base/access/browser-token.ts';
import { readKey, operator, type Principal, type Scope } from '../../base/access/principal.ts';

/** What an MCP server offers. */
export interface McpOptions {
  /** Names of the agents that become tools; `lanefold_start_run` starts no others. Default: every agent of this process. */
  agents?: readonly string[];
  /**
   * How long a tool call waits for its run, in ms; then it answers that the run continues, and how to ask for it. Default
   * 25,000, because many clients give up after 30 seconds; at most an hour.
   */
  waitMs?: number;
}

/** Options of a server whose caller is the same for all its requests. */
export interface McpServerOptions extends McpOptions {
  /** The API key or token that the server acts with. Without one, it may do everything. */
  apiKey?: string;
}

/** Options of a handler in your own HTTP server. */
export interface McpHandlerOptions extends McpOptions {
  /**
   * `false`: without `LANEFOLD_API_KEY`, requests whose `Host` is loopback need no key, and may do everything, in every
   * tenant. Any client can send `Host: localhost`, so use it only in a server that listens on loopback alone, without a
   * proxy in front. Default true.
   */
  requireKey?: boolean;
}

export const mcpKeys: KeysOf<McpOptions> = { agents: true, waitMs: true };
export const serverKeys: KeysOf<McpServerOptions> = { ...mcpKeys, apiKey: true };
export const handlerKeys: KeysOf<McpHandlerOptions> = { ...mcpKeys, requireKey: true };
const defaultWaitMs = 25_000;
const maxWaitMs = 3_600_000;

export interface CheckedOptions {
  agents: readonly string[] | undefined;
  waitMs: number;
}

/** @throws LanefoldError `invalid_input`, `unknown_agent` */
export function checkOptions(
  caller: string,
  options: McpOptions,
  optionKeys: Record<string, true>,
  { agents: known }: Pick<Library<AgentDefinition>, 'agents'>,
): CheckedOptions {
  refuseUnknownKeys(caller, options, optionKeys);
  const { agents, waitMs = defaultWaitMs } = options;
  assertWhole(waitMs, 'waitMs', {
    minimum: 0,
    maximum: maxWaitMs,
    hint: 'Leave it out for 25,000, which is shorter than most clients wait.',
  });
  const names = known.list().map(({ name }) => name);
  const stranger = agents?.find((name) => !names.includes(name));
  if (stranger !== undefined) {
    throw new LanefoldError('unknown_agent', `This process knows no agent ${JSON.stringify(stranger)}.`, {
      hint: `Pass some of ${names.join(', ') || 'the agents of createLanefold'}, or leave agents out for all.`,
    });
  }
  return { agents, waitMs };
}

/**
 * The HTTP API, called in this process. Everything an MCP client asks for goes through it, so that scopes, tenants,
 * limits and the audit of a key hold here without a second set of checks.
 */
type Door = (request: Request) => Response | Promise<Response>;

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
  door,
  credential,
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
