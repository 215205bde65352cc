import { assertId } from '../../checks/ids.ts';
import { assertWhole } from '../../checks/whole-number.ts';
import { snakeKeys } from '../../common/case.ts';
import type { JsonObject } from '../../context/message.ts';
import { LanefoldError } from '../../errors.ts';
import type { LimitDefinition } from '../../limits/definition.ts';
import type { LimitKind } from '../../limits/limit.ts';
import { readDefinition } from '../../limits/read-definition.ts';
import { showDefinition, shownAmount } from '../../limits/show-definition.ts';
import type { Database } from '../../postgres/pool.ts';
import { writeAudit } from '../../store/access/audit.ts';
import { readLimit, readLimits, removeLimit, setLimit, type KeptLimit } from '../../store/limit/limits.ts';
import { readUsage } from '../../store/limit/read-usage.ts';
import { otherTenant } from '../access/tenant-scope.ts';

/** A limit in force. */
export interface ListedLimit extends LimitDefinition {
  name: string;
  /** The tenant that set it, for its own runs. Null: the operator, for all runs. */
  tenant: string | null;
  /** Rises with every change of any limit. */
  version: number;
  createdAt: Date;
  updatedAt: Date;
  /** Who changed it last: `operator`, `key:<id>` or `cli:<user>`. */
  updatedBy: string;
}

/** What was used of a limit, by one value of its scope. */
export interface LimitUsage {
  name: string;
  tenant: string | null;
  kind: LimitKind;
  /** The values of the dimensions with `*` in the scope, joined by `/`; empty without such dimensions. */
  key: string;
  /** The amount that applies to this key; of money, like the other amounts, in US dollars. */
  amount: number;
  /** Used in the interval, including `reserved`. */
  used: number;
  /** Taken by calls that have not ended. */
  reserved: number;
  /** Runs that wait for it. */
  waiting: number;
  /** Everything that was ever used. */
  total: number;
  /** When the calendar interval ends. Null for other limits: a sliding interval gives back bit by bit. */
  resetsAt: Date | null;
  /** The provider asked to make no call before. */
  drainedUntil: Date | null;
  /** Used in each 1/32 of a sliding interval, oldest first. Null for other limits. */
  slices: number[] | null;
  /** Runs that wait, by value of `share`: the ten with most. Null without `share`, or if none wait. */
  waitingBy: Record<string, number> | null;
}

export interface LimitOwner {
  /** The tenant whose limit it is; default: the tenant of the library, else the operator, for all runs. */
  tenant?: string;
  /** Who changes it, for the audit; default `operator`. */
  by?: string;
}

export interface LimitUsageOptions {
  /** Only of limits with this name. */
  name?: string;
  /** Keys of each limit, from 1 to 1,000; default 100. */
  limit?: number;
}

export interface Limits {
  /**
   * Sets a limit, or replaces it; what was used stays used, and runs that wait go on if they now may. Setting a limit
   * to what it is changes nothing. Workers notice at once.
   *
   * @throws LanefoldError `invalid_id`, `invalid_input`; `details.field` names the field
   */
  set(name: string, definition: LimitDefinition, on?: LimitOwner): Promise<ListedLimit>;
  /** Removes a limit; runs that wait for it go on. @throws LanefoldError `limit_not_found` */
  remove(name: string, on?: LimitOwner): Promise<void>;
  /** The limits in force, by tenant and name. A library of one tenant lists those of the tenant. */
  list(): Promise<ListedLimit[]>;
  /** What was used of each limit. Keys that most runs wait for come first, then those that have used most. */
  usage(query?: LimitUsageOptions): Promise<LimitUsage[]>;
}

const mostKeys = 1_000;

/** @param onChange lets this process know the change at once */
export function limitsOf(db: Database, onChange: () => Promise<void>): Limits {
  const change = async (name: string, { tenant = db.tenant, by = 'operator' }: LimitOwner) => {
    assertId(name, 'The name of the limit');
    if (tenant !== undefined) assertId(tenant, 'The tenant id');
    if (tenant !== undefined && db.tenant !== undefined && tenant !== db.tenant) throw otherTenant(tenant, db.tenant);
    const owner = tenant ?? '*';
    const audit = (action: string, detail: JsonObject) =>
      writeAudit(db, { actor: by, action, tenantId: tenant, detail: { name, ...detail } });
    return { owner, by, before: await readLimit(db, owner, name), audit };
  };
  return {
    async set(name, definition, on = {}) {
      const { owner, by, before, audit } = await change(name, on);
      const limit = readDefinition(definition, owner);
      if (before && before.kind !== limit.kind) throw otherKind(name, before);
      await audit('limits.set', { ...oldOf(before), new: toDetail(showDefinition(limit)) });
      await setLimit(db, owner, name, limit, by);
      await onChange();
      return toListed((await readLimit(db, owner, name))!);
    },
    async remove(name, on = {}) {
      const { owner, by, before, audit } = await change(name, on);
      if (!before || before.removedAt) throw limitNotFound(name, owner);
      await audit('limits.remove', oldOf(before));
      if (!(await removeLimit(db, owner, name, by))) throw limitNotFound(name, owner);
      await onChange();
    },
    list: async () => (await readLimits(db)).map(toListed),
    async usage({ name, limit = 100 } = {}) {
      if (name !== undefined) assertId(name, 'The name of the limit');
      assertWhole(limit, 'limit', { minimum: 1, maximum: mostKeys, hint: 'Pass the number of keys of each limit.' });
      const found = await readUsage(db, { name, limit });
      return found.map(({ owner, kind, amount, used, reserved, total, slices, ...bucket }) => ({
        ...{ ...bucket, kind, tenant: tenantOf(owner) },
        ...{ amount: shownAmount(kind, amount), used: shownAmount(kind, used) },
        ...{ reserved: shownAmount(kind, reserved), total: shownAmount(kind, total) },
        slices: slices && slices.map((one) => shownAmount(kind, one)),
      }));
    },
  };
}

const tenantOf = (owner: string): string | null => (owner === '*' ? null : owner);

const toListed = (limit: KeptLimit): ListedLimit => {
  const { owner, name, version, createdAt, updatedAt, updatedBy } = limit;
  const history = { version, createdAt, updatedAt, updatedBy };
  return { name, tenant: tenantOf(owner), ...showDefinition(limit), ...history };
};

/** A definition as the audit has it. */
const toDetail = (definition: LimitDefinition): JsonObject => snakeKeys(definition) as JsonObject;

const oldOf = (before: KeptLimit | undefined): JsonObject =>
  before && !before.removedAt ? { old: toDetail(showDefinition(before)) } : {};

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
