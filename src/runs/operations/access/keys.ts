import { isBrowserToken, readBrowserToken, signBrowserToken } from '../../../base/access/browser-token.ts';
import { hashOf, newKey, readKey, type Allowed, type Principal } from '../../../base/access/principal.ts';
import { asHere, asThere } from '../../../base/common/timer.ts';
import { LanefoldError } from '../../../base/errors.ts';
import { checked, checkOptions } from '../../../base/operations/checked.ts';
import { signingSecret } from '../../../base/tokens/token.ts';
import type { Database } from '../../../database/postgres/pool.ts';
import {
  findKey,
  insertKey,
  listKeys,
  revokeKey,
  rotateKey,
  type FoundKey,
} from '../../../database/store/access/api-keys.ts';
import { auditRead, readAudit, writeAudit, type AuditedAction } from '../../../database/store/access/audited-act.ts';
import { AuditQuery as Query } from '../../../database/store/access/declaration.ts';
import type { ApiKey, AuditEntry, AuditQuery } from '../../../database/store/access/types.ts';
import { keys, NewBrowserToken as BrowserTokenFields } from './declaration.ts';
import { otherTenant } from './tenant-scope.ts';
import type { BrowserToken, DeclaredKeys, NewBrowserToken } from './types.ts';

export interface ApiKeys extends DeclaredKeys {
  /** A key, without its secret; undefined if there is no key with this id. */
  get(id: string): Promise<ApiKey | undefined>;
  /** What a key allows; undefined if this database does not have the key. */
  find(text: string): Promise<({ id: string } & FoundKey) | undefined>;
  /**
   * A token for a page in a browser, for one thread or run. It needs no storage and cannot be revoked before it
   * expires.
   *
   * @throws LanefoldError `missing_token_secret`, `invalid_input`
   */
  browserToken(token: NewBrowserToken): BrowserToken;
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

const hourMs = 3_600_000;
const defaultTokenMs = 15 * 60_000;

export function keysOf(db: Database, secrets: readonly string[]): ApiKeys {
  const { clock } = db.settings;
  return checked<ApiKeys>(keys, {
    async create({ name, expiresInMs, by, tenant = db.tenant, ...rest }) {
      if (tenant !== undefined && db.tenant !== undefined && tenant !== db.tenant) throw otherTenant(tenant, db.tenant);
      const allowed = { ...rest, ...(tenant === undefined ? {} : { tenant }) } as Allowed;
      const { id, text, hash } = newKey();
      await insertKey(db, { id, hash, name: name.trim(), allowed, createdBy: by ?? 'operator', expiresInMs });
      return { id, key: text };
    },
    list: () => listKeys(db),
    get: async (id) => (await listKeys(db, id))[0],
    async rotate(id, { overlapMs = hourMs, by } = {}) {
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
      checkOptions('keys.browserToken', BrowserTokenFields, given);
      const { threadId, runId, access, expiresInMs = defaultTokenMs, expiresAtMs = Infinity } = given;
      const { tenant = db.tenant, agents, limits, by = 'operator' } = given;
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
  });
}

export const auditOf = (db: Database): AuditLog => ({
  async list(query = {}) {
    checkOptions('audit.list', Query, query);
    return readAudit(db.reader, query);
  },
  writeRead: (entry) => auditRead(db, entry),
  write: (entry) => writeAudit(db, { ...entry, tenantId: entry.tenantId ?? db.tenant }),
});

const keyNotFound = (id: string): LanefoldError =>
  new LanefoldError('key_not_found', `Key ${id} does not exist or was revoked.`, {
    hint: 'List the keys with `lanefold keys list`.',
  });
