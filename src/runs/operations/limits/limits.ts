import { assertId } from '../../../base/checks/ids.ts';
import { LanefoldError } from '../../../base/errors.ts';
import { checked } from '../../../base/operations/checked.ts';
import { readDefinition, showDefinition } from '../../../agent/limits/read-definition.ts';
import type { Database } from '../../../database/postgres/pool.ts';
import { readLimit, readLimits, removeLimit, setLimit, type KeptLimit } from '../../../database/store/limit/limits.ts';
import { otherTenant } from '../access/tenant-scope.ts';
import type { ListPage } from '../../../database/store/rows.ts';
import { limits } from './declaration.ts';
import type {
  DeclaredLimits,
  LimitHolder,
  LimitHoldersOptions,
  LimitUsage,
  LimitUsageOptions,
  ListedLimit,
} from './types.ts';
import { tenantOf, usageOf, type LimitTotal } from './usage.ts';

export interface Limits extends DeclaredLimits {
  /** The limits in force, by tenant and name. A library of one tenant lists those of the tenant. */
  list(): Promise<ListedLimit[]>;
  /**
   * What was used of each limit, key by key: first the keys that runs wait for, then the others, each in the order of the
   * keys. `after` continues with the keys of one limit. A key that runs begin to wait for, or no longer wait for, while you
   * read page after page may be missing, or come twice.
   *
   * @throws LanefoldError `invalid_id`, `invalid_input`
   *
   * @example
   * const limit = 100;
   * let after: string | undefined;
   * do {
   *   const page = await lanefold.limits.usage({ name: 'slots', limit, after });
   *   for (const { key, used } of page) console.log(key, used);
   *   after = page.length === limit ? page.at(-1)!.cursor : undefined;
   * } while (after !== undefined);
   */
  usage(query?: LimitUsageOptions): Promise<LimitUsage[]>;
  /**
   * Which runs hold a slot of a limit, or have reserved some of it for a model call, the longest first. A library of one
   * tenant lists its own runs, also on limits of the operator.
   *
   * @throws LanefoldError `invalid_id`, `invalid_input`
   *
   * @example
   * const { data } = await lanefold.limits.holders({ name: 'slots', key: 'acme' });
   * for (const { runId, workerId, since } of data) console.log(runId, workerId, since);
   */
  holders(query?: LimitHoldersOptions): Promise<ListPage<LimitHolder>>;
  /** What the keys of each limit have used together; of a limit with more than 1,000 keys, what the first ones have. */
  totals(): Promise<LimitTotal[]>;
}

/** @param onChange lets this process know the change at once */
export function limitsOf(db: Database, onChange: () => Promise<void>): Limits {
  const change = async (name: string, { tenant = db.tenant, by = 'operator' }: { tenant?: string; by?: string }) => {
    assertId(name, 'The name of the limit');
    if (tenant !== undefined && db.tenant !== undefined && tenant !== db.tenant) throw otherTenant(tenant, db.tenant);
    const owner = tenant ?? '*';
    return { owner, by, before: await readLimit(db, owner, name) };
  };
  return checked<Limits>(limits, {
    async set(name, definition, on = {}) {
      const { owner, by, before } = await change(name, on);
      const limit = readDefinition(definition, owner);
      if (before && before.kind !== limit.kind) throw otherKind(name, before);
      await setLimit(db, owner, name, limit, by);
      await onChange();
      return toListed((await readLimit(db, owner, name))!);
    },
    async remove(name, on = {}) {
      const { owner, by } = await change(name, on);
      if (!(await removeLimit(db, owner, name, by))) throw limitNotFound(name, owner);
      await onChange();
    },
    list: async () => (await readLimits(db)).map(toListed),
    ...usageOf(db),
  });
}

const toListed = (limit: KeptLimit): ListedLimit => {
  const { owner, name, createdAt, updatedAt, updatedBy } = limit;
  const history = { createdAt, updatedAt, updatedBy };
  return { name, tenant: tenantOf(owner), ...showDefinition(limit), ...history };
};

const otherKind = (name: string, { kind, removedAt }: KeptLimit): LanefoldError =>
  new LanefoldError(
    'invalid_input',
    `The limit is invalid: kind must be ${kind}, as limit ${name} ${removedAt ? 'was' : 'is'}.`,
    {
      hint: 'Nothing was written. Give a limit of another kind another name.',
      details: { field: 'kind', problem: `must be ${kind}` },
    },
  );

const limitNotFound = (name: string, owner: string): LanefoldError =>
  new LanefoldError('limit_not_found', `Limit ${name}${owner === '*' ? '' : ` of tenant ${owner}`} does not exist.`, {
    hint: 'List the limits with `lanefold limits`.',
  });
