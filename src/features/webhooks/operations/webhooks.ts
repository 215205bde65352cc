import { assertId, newId } from '../../../base/checks/ids.ts';
import { omitUndefined } from '../../../base/common/json.ts';
import { LanefoldError } from '../../../base/errors.ts';
import type { Database } from '../../../database/postgres/pool.ts';
import { resolveHost } from '../worker/addresses.ts';
import { readDeliveries, redeliver, type DeliveryQuery } from '../store/deliveries.ts';
import {
  pauseWebhook,
  readWebhook,
  readWebhooks,
  removeWebhook,
  rotateWebhook,
  setWebhook,
  testWebhook,
  type CompleteWebhook,
  type WebhookRow,
} from '../store/webhooks.ts';
import { templateProblem } from '../definition/body-template.ts';
import { invalid, readUrl } from '../definition/url.ts';
import { ownersOn, type Owner } from '../../../runs/operations/access/tenant-scope.ts';
import type { ListedWebhook, WebhookDefinition, Webhooks } from '../types.ts';

const day = 86_400_000;
const maxRedelivered = 1_000;

/**
 * @param scopeTo the same connections for a tenant
 * @param anywhere `http:` URLs and private addresses are allowed
 */
export function webhooksOf(db: Database, scopeTo: (tenant: string) => Database, anywhere: boolean): Webhooks {
  const ownerOf = ownersOn(db, scopeTo);
  const own = (name: string, owner: Owner) => {
    assertName(name);
    return ownerOf(owner);
  };
  const find = async (name: string, owner: Owner) => {
    const { tenant, by, on } = own(name, owner);
    const row = await readWebhook(on, tenant, name);
    if (!row) throw notFound(name, tenant);
    return { row, by, on };
  };
  const listed = async (name: string, owner: Owner) => toListed((await find(name, owner)).row);
  const setPaused = async (name: string, owner: Owner, paused: boolean): Promise<ListedWebhook> => {
    const { tenant, by, on } = own(name, owner);
    if (!(await pauseWebhook(on, tenant, name, { paused, by }))) throw notFound(name, tenant);
    return listed(name, owner);
  };
  return {
    list: async () => (await readWebhooks(db)).map(toListed),
    get: (name, owner = {}) => listed(name, owner),
    async set(name, definition, owner = {}) {
      const { tenant, by, on } = own(name, owner);
      const webhook = complete(definition, anywhere);
      const addresses = await resolveHost(new URL(webhook.url), anywhere);
      if (!Array.isArray(addresses)) {
        const problem = `is refused: ${addresses.message.replace(/\.$/, '')}`;
        throw invalid('url', addresses.code === 'private_address' ? `${problem}${allowed}` : problem);
      }
      const secret = await setWebhook(on, tenant, name, webhook, { id: newId('webhook'), by });
      return { ...(await listed(name, { tenant })), ...(secret === undefined ? {} : { secret }) };
    },
    async remove(name, owner = {}) {
      const { tenant, by, on } = own(name, owner);
      if (!(await removeWebhook(on, tenant, name, by))) throw notFound(name, tenant);
    },
    async rotate(name, { keepMs = day, ...owner } = {}) {
      const { tenant, by, on } = own(name, owner);
      const secret = await rotateWebhook(on, tenant, name, { keepMs, by });
      if (secret === undefined) throw notFound(name, tenant);
      return { secret };
    },
    pause: (name, owner = {}) => setPaused(name, owner, true),
    resume: (name, owner = {}) => setPaused(name, owner, false),
    async test(name, owner = {}) {
      const { row, by, on } = await find(name, owner);
      const id = await testWebhook(on, row, by);
      if (id === null) throw notFound(name, row.tenantId);
      return { id };
    },
    async deliveries(name, { status, limit = 50, ...owner } = {}) {
      const { row, on } = await find(name, owner);
      return readDeliveries(on.reader, row.id, { statuses: status && [status], limit });
    },
    async redeliver(name, { id, since, ...owner } = {}) {
      const which = toRedeliver(id, since);
      const { row, by, on } = await find(name, owner);
      const due = await readDeliveries(on, row.id, which);
      if (id !== undefined && due.length === 0) throw noDelivery(id, name);
      let redelivered = 0;
      for (const delivery of due.reverse()) if (await redeliver(on, delivery, row.id, by)) redelivered++;
      return { redelivered };
    },
  };
}

/**
 * The definition with its defaults, and its URL as browsers write it: elsewhere, the host of "https:\\host\secret" would
 * seem to have no end.
 */
function complete(given: WebhookDefinition, anywhere: boolean): CompleteWebhook {
  const read = readUrl(given.url, anywhere);
  if (read.problem !== undefined)
    throw invalid('url', /^http:/i.test(given.url) ? `${read.problem}${anywhere ? '' : allowed}` : read.problem);
  const problem = given.template && templateProblem(given.template);
  if (problem !== undefined) throw invalid('template', problem);
  const { types, agents, ...full } = { ...defaults, ...omitUndefined(given), url: read.url.href };
  return { ...full, types: unique(types), agents: unique(agents) };
}

/** A receiver on the developer's machine has such a URL. */
const allowed = ' (LANEFOLD_PRIVATE_WEBHOOKS=on allows http: and private addresses)';

const defaults = { types: [], agents: [], ordered: false, includeResult: false, template: null };

const unique = <T extends string>(values: readonly T[]): T[] => [...new Set(values)].sort();

/** The deliveries to send again. */
function toRedeliver(id: string | undefined, since: Date | undefined): DeliveryQuery {
  if (id !== undefined && since === undefined) return { id, limit: 1 };
  if (since !== undefined && id === undefined) return { since, statuses: ['failed', 'dropped'], limit: maxRedelivered };
  throw new LanefoldError('invalid_input', 'redeliver needs either the id of a delivery or a time.', {
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
