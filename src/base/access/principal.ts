import { createHash, randomBytes } from 'node:crypto';
import { newId } from '../checks/ids.ts';
import { LanefoldError } from '../errors.ts';

/**
 * The scopes of a key. `read`: view what needs no other scope. `run`: start, retry and resume runs, and write to
 * threads. `steer`: steer and cancel active runs. `approve`: approve or deny tool calls. `admin`: everything else, such
 * as configuration, erasure, keys, audit and operations.
 */
export const scopes = ['read', 'run', 'steer', 'approve', 'admin'] as const;

export type Scope = (typeof scopes)[number];

/** Who makes a request. */
export interface Principal extends Allowed {
  /** For the audit and the log: `operator`, `key:<id>` or `token:<id of the key that made it>`. */
  actor: string;
  /** The limits that all keys of its tenant share. */
  tenantLimits?: KeyLimits;
  /** Restricts access to this thread and, if `runId` is set, to this run in it. */
  threadId?: string;
  runId?: string;
  /** Restricts access to these operations, each with the fields that its body may have. */
  operations?: Readonly<Record<string, readonly string[]>>;
  /** When it expires, in ms as returned by `Date.now()`. */
  expiresAtMs?: number;
}

/** The holder of LANEFOLD_API_KEY; on a server without a key, every user of this machine. */
export const operator: Principal = { actor: 'operator', scopes };

export const may = (principal: Principal, scope: Scope): boolean => principal.scopes.includes(scope);

/** Whether a principal sees everything and may therefore use operations that span tenants. */
export const isUnbound = (principal: Principal): boolean => principal.tenant === undefined && seesThreads(principal);

/** Whether a principal sees every thread of its tenant and may therefore use operations that span threads. */
export const seesThreads = (principal: Principal): boolean =>
  principal.agents === undefined && principal.threadPrefix === undefined && principal.threadId === undefined;

/** The restrictions of a key besides its scopes: each field narrows it. */
export interface Allowed {
  scopes: readonly Scope[];
  /** Only this tenant's threads. */
  tenant?: string;
  /** Only runs of these agents, in threads in which no other agent has run. */
  agents?: readonly string[];
  /** Only threads whose ids begin with this. */
  threadPrefix?: string;
  limits?: KeyLimits;
}

export interface KeyLimits {
  /** Requests per minute in each process; a burst may use all of them at once. */
  requestsPerMinute?: number;
  /** Maximum number of runs that have not ended. */
  runs?: number;
  /** Maximum number of open event streams in each process. */
  streams?: number;
  /** Maximum bytes of a request body. */
  bodyBytes?: number;
}

/** `lfk_<id>_<secret>`: the id finds the key, the secret (43 characters of base64url, 256 bits) proves it. */
const grammar = /^lfk_([0-9a-v]{26})_([A-Za-z0-9_-]{43})$/;

interface KeyText {
  id: string;
  secret: string;
}

/** A new key: the text, which is shown once, and the hash that is stored. */
export function newKey(id = newId('key')): { id: string; text: string; hash: Buffer } {
  const secret = randomBytes(32).toString('base64url');
  return { id, text: `lfk_${id.slice('key_'.length)}_${secret}`, hash: hashOf(secret) };
}

/** The parts of a key, or undefined for any other text. */
export function readKey(text: string): KeyText | undefined {
  const [, id, secret] = grammar.exec(text) ?? [];
  return id && secret ? { id: `key_${id}`, secret } : undefined;
}

/** A secret has as many random bits as its hash, so a slow hash would add no protection. */
export const hashOf = (secret: string): Buffer => createHash('sha256').update(secret).digest();

/** The rights requested for a new key. */
interface Granted extends Allowed {
  /** In ms, as returned by `Date.now()`; undefined: the key never expires. */
  expiresAtMs?: number | undefined;
}

/**
 * Rejects a new key with more rights than the principal who requests it. Tenants are not compared: a tenant's library
 * neither makes nor finds keys of another tenant.
 *
 * @throws LanefoldError `forbidden`
 */
export function assertMayGrant(principal: Principal, granted: Granted): void {
  const surplus = surplusOf(principal, granted);
  if (surplus === undefined) return;
  throw new LanefoldError('forbidden', `A key cannot grant more than it has: ${surplus}.`, {
    hint: 'Request fewer rights, or use a key that has them.',
  });
}

function surplusOf(own: Principal, { scopes, agents, threadPrefix, limits, expiresAtMs }: Granted): string | undefined {
  const scope = scopes.find((one) => !may(own, one));
  if (scope !== undefined) return `it lacks the scope ${scope}`;
  if (own.agents && !agents?.every((agent) => own.agents!.includes(agent)))
    return `it is limited to the agents ${own.agents.join(', ')}`;
  if (own.threadPrefix !== undefined && !threadPrefix?.startsWith(own.threadPrefix))
    return `it is limited to threads whose id begins with ${own.threadPrefix}`;
  for (const [name, most] of Object.entries(own.limits ?? {})) {
    const given = limits?.[name as keyof KeyLimits] ?? Infinity;
    if (given > most) return `its limit ${name} is ${most}`;
  }
  if ((expiresAtMs ?? Infinity) > (own.expiresAtMs ?? Infinity)) return 'it expires earlier';
  return undefined;
}
