import { assertWhole, centuryMs } from '../../../base/checks/values.ts';
import { asHere, asThere } from '../../../base/common/timer.ts';
import { z } from 'zod';
import {
  isBrowserToken,
  readBrowserToken,
  signBrowserToken,
  type BrowserAccess,
} from '../../../base/access/browser-token.ts';
import {
  hashOf,
  newKey,
  readKey,
  type Principal,
  scopes,
  type Allowed,
  type KeyLimits,
} from '../../../base/access/principal.ts';
import { LanefoldError } from '../../../base/errors.ts';
import { idGrammar } from '../../../base/checks/ids.ts';
import type { Database } from '../../../database/postgres/pool.ts';
import { otherTenant } from './tenant-scope.ts';
import { signingSecret } from '../../../base/tokens/token.ts';
import { refuseUnknownKeys, type KeysOf } from '../../../base/checks/unknown-keys.ts';
import {
  type ApiKey,
  insertKey,
  findKey,
  type FoundKey,
  listKeys,
  rotateKey,
  revokeKey,
} from '../../../database/store/access/api-keys.ts';
import {
  writeAudit,
  type AuditedAction,
  auditRead,
  readAudit,
  type AuditEntry,
  type AuditQuery,
} from '../../../database/store/access/audited-act.ts';
import { LimitFields } from './tenants.ts';

export interface NewKey extends Allowed {
  /** What it is for, to recognise it in lists. */
  name: string;
  /** Default: never. */
  expiresInMs?: number;
  /** Who creates it, for the audit; default `operator`. */
  by?: string;
}

/** The key is returned only here: the database stores just its hash. */
export interface MintedKey {
  id: string;
  key: string;
}

export interface NewBrowserToken {
  threadId: string;
  /** Only this run of the thread. */
  runId?: string;
  access: BrowserAccess;
  /** Default 15 minutes, at most a day. */
  expiresInMs?: number;
  /** The latest expiry, in ms as of `Date.now()`: when the key that requests the token expires. */
  expiresAtMs?: number;
  tenant?: string;
  agents?: readonly string[];
  /** The limits of the key that requests the token. */
  limits?: KeyLimits;
  /** The id of the key that requests the token; default `operator`. */
  by?: string;
}

export interface ApiKeys {
  /** Creates a key. A library of one tenant creates keys for that tenant. @throws LanefoldError `invalid_input` */
  create(key: NewKey): Promise<MintedKey>;
  /** All keys, newest first, without secrets. */
  list(): Promise<ApiKey[]>;
  /** One of them; undefined if there is none with this id. */
  get(id: string): Promise<ApiKey | undefined>;
  /**
   * Adds a secret to a key; the old ones keep working for `overlapMs`, default an hour.
   *
   * @throws LanefoldError `key_not_found`
   */
  rotate(id: string, options?: { overlapMs?: number; by?: string }): Promise<MintedKey>;
  /** Revokes a key; servers notice within ten seconds. @throws LanefoldError `key_not_found` */
  revoke(id: string, options?: { by?: string }): Promise<void>;
  /** What a key allows; undefined if this database does not have the key. */
  find(text: string): Promise<({ id: string } & FoundKey) | undefined>;
  /**
   * A token for a page in a browser, for one thread or run. It needs no storage and cannot be revoked before it
   * expires.
   *
   * @throws LanefoldError `missing_token_secret`, `invalid_input`
   */
  browserToken(token: NewBrowserToken): { token: string; expiresAt: Date };
  /**
   * The principal of a browser token; undefined for other text.
   *
   * @throws LanefoldError `unauthorized` if it is altered or has expired
   */
  holder(text: string): Promise<Principal | undefined>;
}

export interface AuditLog {
  /** Who did what, oldest first. */
  list(query?: AuditQuery): Promise<AuditEntry[]>;
  write(entry: AuditedAction): Promise<void>;
  /** Audits a read by a principal without a tenant, if what it reads has one. */
  writeRead(entry: AuditedAction): Promise<void>;
}

const tokenKeys: KeysOf<NewBrowserToken> = {
  threadId: true,
  runId: true,
  access: true,
  expiresInMs: true,
  expiresAtMs: true,
  tenant: true,
  agents: true,
  limits: true,
  by: true,
};

const Count = z.number().int().min(1);
const NewKeyFields = z.strictObject({
  name: z.string().trim().min(1).max(200),
  tenant: z.string().regex(idGrammar).optional(),
  scopes: z.array(z.enum(scopes)).min(1),
  agents: z.array(z.string().min(1)).min(1).optional(),
  threadPrefix: z.string().regex(idGrammar).optional(),
  limits: LimitFields.optional(),
  expiresInMs: Count.max(centuryMs).optional(),
  by: z.string().min(1).max(200).optional(),
});

const hourMs = 3_600_000;
const defaultTokenMs = 15 * 60_000;
const longestTokenMs = 24 * hourMs;

export function keysOf(db: Database, secrets: readonly string[]): ApiKeys {
  const { clock } = db.settings;
  return {
    async create(fields) {
      const { name, expiresInMs, by, tenant = db.tenant, ...rest } = parse(fields);
      if (tenant !== undefined && db.tenant !== undefined && tenant !== db.tenant) throw otherTenant(tenant, db.tenant);
      const allowed = { ...rest, ...(tenant === undefined ? {} : { tenant }) } as Allowed;
      const { id, text, hash } = newKey();
      const expiresAt = expiresInMs === undefined ? null : new Date(clock.now() + expiresInMs);
      await insertKey(db, { id, hash, name, allowed, createdBy: by ?? 'operator', expiresAt });
      return { id, key: text };
    },
    list: () => listKeys(db),
    get: async (id) => (await listKeys(db, id))[0],
    async rotate(id, { overlapMs = hourMs, by } = {}) {
      assertWhole(overlapMs, 'overlapMs', { maximum: centuryMs, hint: 'Omit it for an hour. Nothing was written.' });
      const { text, hash } = newKey(id);
      if (!(await rotateKey(db, { id, hash, createdBy: by ?? 'operator', overlapMs }))) throw keyNotFound(id);
      return { id, key: text };
    },
    async revoke(id, { by = 'operator' } = {}) {
      if (!(await revokeKey(db, id, by))) throw keyNotFound(id);
    },
    async find(text) {
      const key = readKey(text);
      const found = key && (await findKey(db, key.id, hashOf(key.secret)));
      return found && { id: key!.id, ...found };
    },
    browserToken(given) {
      refuseUnknownKeys('keys.browserToken', given, tokenKeys);
      const { threadId, runId, access, expiresInMs = defaultTokenMs, expiresAtMs = Infinity } = given;
      const { tenant = db.tenant, agents, limits, by = 'operator' } = given;
      if (!(expiresInMs > 0 && expiresInMs <= longestTokenMs)) {
        throw new LanefoldError(
          'invalid_input',
          'The lifetime of a browser token must be above 0 and at most one day.',
          {
            hint: 'Have the page request a new token from your backend.',
          },
        );
      }
      const expiresAt = new Date(Math.min(clock.now() + expiresInMs, asThere(clock, expiresAtMs)));
      const fields = { access, thread_id: threadId, run_id: runId, tenant, agents: agents && [...agents], limits, by };
      const token = signBrowserToken({ ...fields, exp_ms: expiresAt.getTime() }, signingSecret(secrets));
      return { token, expiresAt };
    },
    async holder(text) {
      if (!isBrowserToken(text)) return undefined;
      const found = readBrowserToken(text, secrets, clock.now());
      return { ...found, expiresAtMs: asHere(clock, found.expiresAtMs!) };
    },
  };
}

export const auditOf = (db: Database): AuditLog => ({
  list: (query = {}) => readAudit(db.reader, query),
  writeRead: (entry) => auditRead(db, entry),
  write: (entry) => writeAudit(db, { ...entry, tenantId: entry.tenantId ?? db.tenant }),
});

function parse(fields: NewKey) {
  const parsed = NewKeyFields.safeParse(fields);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new LanefoldError('invalid_input', `The key is invalid: ${issue!.path.join('.')}: ${issue!.message}.`, {
    hint: `Pass a name and one or more of the scopes ${scopes.join(', ')}.`,
  });
}

const keyNotFound = (id: string): LanefoldError =>
  new LanefoldError('key_not_found', `Key ${id} does not exist or was revoked.`, {
    hint: 'List the keys with `lanefold keys list`.',
  });
