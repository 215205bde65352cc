import { assertId, defaultTenant, newId } from '../../../base/checks/ids.ts';
import { assertWhole } from '../../../base/checks/whole-number.ts';
import { LanefoldError } from '../../../base/errors.ts';
import type { Database } from '../../../database/postgres/pool.ts';
import { resolveHost } from '../worker/resolve.ts';
import { readDeliveries, replayDelivery, type DeliveryQuery as Query } from '../store/deliveries.ts';
import {
  pauseWebhook,
  readWebhook,
  readWebhooks,
  removeWebhook,
  rotateWebhook,
  setWebhook,
  testWebhook,
  type WebhookRow,
} from '../store/webhooks.ts';
import { deliveryStatuses } from '../definition/definition.ts';
import { invalid } from '../definition/invalid-webhook.ts';
import { readDefinition } from '../definition/read-definition.ts';
import { otherTenant } from '../../../runs/operations/access/tenant-scope.ts';
import type { ListedWebhook, WebhookOwner, Webhooks } from './types.ts';

const operator = 'operator';
const day = 86_400_000;
const mostReplayed = 1_000;

/**
 * @param scopeTo the same connections for a tenant
 * @param anywhere `http:` URLs and private addresses are allowed
 */
export function webhooksOf(db: Database, scopeTo: (tenant: string) => Database, anywhere: boolean): Webhooks {
  const own = ({ tenant = db.tenant ?? defaultTenant }: WebhookOwner) => {
    assertId(tenant, 'The tenant id');
    if (db.tenant !== undefined && tenant !== db.tenant) throw otherTenant(tenant, db.tenant);
    return { tenant, on: db.tenant === undefined ? scopeTo(tenant) : db };
  };
  const find = async (name: string, owner: WebhookOwner) => {
    assertName(name);
    const { tenant, on } = own(owner);
    const row = await readWebhook(on, tenant, name);
    if (!row) throw notFound(name, tenant);
    return { row, on };
  };
  const listed = async (name: string, owner: WebhookOwner) => toListed((await find(name, owner)).row);
  const setPaused = async (name: string, owner: WebhookOwner, paused: boolean): Promise<ListedWebhook> => {
    assertName(name);
    const { tenant, on } = own(owner);
    if (!(await pauseWebhook(on, tenant, name, { paused, by: owner.by ?? operator }))) throw notFound(name, tenant);
    return listed(name, owner);
  };
  return {
    async set(name, definition, owner = {}) {
      assertName(name);
      const { tenant, on } = own(owner);
      const webhook = readDefinition(definition, anywhere);
      const addresses = await resolveHost(new URL(webhook.url), anywhere);
      if (!Array.isArray(addresses)) throw invalid('url', `is refused: ${addresses.message.replace(/\.$/, '')}`);
      const fresh = { id: newId('webhook'), by: owner.by ?? operator };
      const secret = await setWebhook(on, tenant, name, webhook, fresh);
      return { ...(await listed(name, { tenant })), ...(secret === undefined ? {} : { secret }) };
    },
    get: (name, owner = {}) => listed(name, owner),
    list: async () => (await readWebhooks(db)).map(toListed),
    async remove(name, owner = {}) {
      assertName(name);
      const { tenant, on } = own(owner);
      if (!(await removeWebhook(on, tenant, name, owner.by ?? operator))) throw notFound(name, tenant);
    },
    async rotate(name, { keepMs = day, ...owner } = {}) {
      assertName(name);
      assertWhole(keepMs, 'keepMs', { maximum: 30 * day, hint: 'Pass ms, up to 30 days. Nothing was written.' });
      const { tenant, on } = own(owner);
      const secret = await rotateWebhook(on, tenant, name, { keepMs, by: owner.by ?? operator });
      if (secret === undefined) throw notFound(name, tenant);
      return { secret };
    },
    pause: (name, owner = {}) => setPaused(name, owner, true),
    resume: (name, owner = {}) => setPaused(name, owner, false),
    async deliveries(name, { status, limit = 50, ...owner } = {}) {
      assertWhole(limit, 'limit', { minimum: 1, maximum: 1_000, hint: 'Pass the number of deliveries.' });
      if (status !== undefined && !deliveryStatuses.includes(status))
        throw new LanefoldError('invalid_input', `status must be one of ${deliveryStatuses.join(', ')}.`, {
          hint: 'Omit it for all.',
        });
      const { row, on } = await find(name, owner);
      return readDeliveries(on.reader, row.id, { statuses: status && [status], limit });
    },
    async replay(name, { id, since, ...owner }) {
      const { row, on } = await find(name, owner);
      const due = await readDeliveries(on, row.id, which(id, since));
      if (id !== undefined && due.length === 0) throw noDelivery(id, name);
      let replayed = 0;
      for (const delivery of due.reverse())
        if (await replayDelivery(on, delivery, row.id, owner.by ?? operator)) replayed++;
      return { replayed };
    },
    async test(name, owner = {}) {
      const { row, on } = await find(name, owner);
      const id = await testWebhook(on, row, owner.by ?? operator);
      if (id === null) throw notFound(name, row.tenantId);
      return { id };
    },
  };
}

/** The deliveries to send again. */
function which(id: unknown, since: unknown): Query {
  if (typeof id === 'string' && since === undefined) return { id, limit: 1 };
  if (since instanceof Date && !Number.isNaN(since.getTime()) && id === undefined)
    return { since, statuses: ['failed', 'dropped'], limit: mostReplayed };
  throw new LanefoldError('invalid_input', 'replay needs either the id of a delivery or a time.', {
    hint: 'Nothing was written. Pass { id } or { since: new Date(…) }.',
  });
}

/** Shorter than other ids, because it appears beside them. */
const longestName = 90;

/** @throws LanefoldError `invalid_id` */
function assertName(name: string): void {
  assertId(name, 'The name of the webhook');
  if (name.length <= longestName) return;
  throw new LanefoldError('invalid_id', `The name of the webhook has ${name.length} characters.`, {
    hint: `Nothing was written. Use at most ${longestName}.`,
    details: { what: 'The name of the webhook' },
  });
}

const toListed = ({ id: _, tenantId, ...row }: WebhookRow): ListedWebhook => ({ ...row, tenant: tenantId });

const notFound = (name: string, tenant: string): LanefoldError =>
  new LanefoldError('webhook_not_found', `Webhook ${name} of tenant ${tenant} does not exist.`, {
    hint: 'List the webhooks with `lanefold webhooks`.',
  });

const noDelivery = (id: string, name: string): LanefoldError =>
  new LanefoldError('delivery_not_found', `Webhook ${name} has no delivery ${id}.`, {
    hint: 'List them with `lanefold webhooks deliveries`.',
  });
