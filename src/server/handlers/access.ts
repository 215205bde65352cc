import { assertMayMint } from '../../base/access/browser-token.ts';
import { assertMayGrant, type Principal } from '../../base/access/principal.ts';
import { omitUndefined } from '../../base/common/json.ts';
import { pageOf } from '../../base/common/page.ts';
import { asHere, processClock } from '../../base/common/timer.ts';
import { databaseOf } from '../../features/library/internals.ts';
import type { AuditQuery } from '../../database/store/access/types.ts';
import { usedLimits } from '../../runs/operations/limits/usage.ts';
import type { NewBrowserToken, NewKey } from '../../runs/operations/access/types.ts';
import type { Handler } from '../declared/routes.ts';

/** A key and a token get no more rights than the key of the request. */
export const keyHandlers: Record<'create' | 'rotate' | 'browserToken', Handler> = {
  async create({ call, options, principal }) {
    const key = options as unknown as NewKey;
    const { expiresInMs } = key;
    const expiresAtMs = expiresInMs === undefined ? undefined : processClock.now() + expiresInMs;
    assertMayGrant(principal, { ...key, expiresAtMs });
    return call();
  },

  async rotate({ call, lanefold, params, principal }) {
    // the caller reads the new secret, and needs every right of the key
    const key = await lanefold.keys.get(params['keyId']!);
    const { clock } = databaseOf(lanefold, 'The API').settings;
    const expiresAtMs = key?.expiresAt ? asHere(clock, key.expiresAt.getTime()) : undefined;
    if (key) assertMayGrant(principal, { ...key, expiresAtMs });
    return call();
  },

  async browserToken({ body, lanefold, principal }) {
    const asked = body as unknown as NewBrowserToken;
    assertMayMint(principal, asked.access, asked.agents);
    return lanefold.keys.browserToken({ ...asked, ...ofMinter(principal, asked) });
  },
};

function ofMinter(principal: Principal, { agents: asked }: NewBrowserToken): Partial<NewBrowserToken> {
  const { actor: by, tenant, limits, expiresAtMs } = principal;
  const agents = asked ?? (principal.agents && [...principal.agents]);
  return omitUndefined({ agents, tenant, limits, expiresAtMs, by });
}

export const auditHandlers: Record<'list', Handler> = {
  async list({ lanefold, options }) {
    const { limit = 100, ...query } = options as AuditQuery;
    const found = await lanefold.audit.list({ ...query, limit: limit + 1 });
    return pageOf(found, limit, ({ no }) => no);
  },
};

export const limitHandlers: Record<'holders' | 'listLimits', Handler> = {
  holders: ({ lanefold, options, params }) => lanefold.limits.holders({ ...options, name: params['name']! }),

  async listLimits({ lanefold: { limits }, options }) {
    const found = await usedLimits(limits, options);
    return { data: found.map(({ limit, uses: usage, nextAfter }) => ({ ...limit, usage, nextAfter })) };
  },
};
