import { databaseOf } from '../../features/library/database-of.ts';
import { asHere, processClock } from '../../base/common/timer.ts';
import { createRoute, z } from '@hono/zod-openapi';
import { assertMayMint } from '../../base/access/browser-token.ts';
import { assertMayGrant } from '../../base/access/principal.ts';
import { camelKeys, snakeKeys } from '../../base/common/case.ts';
import type { NewKey as NewKeyFields } from '../../runs/operations/access/keys.ts';
import { omitUndefined } from '../../base/common/json.ts';
import type { ApiApp } from '../env.ts';
import { toJson } from '../json.ts';
import { BrowserToken, KeyList, MintedKey, NewBrowserToken, NewKey, RotateKey } from '../schemas/key.ts';
import { bodyProblems, problems } from '../schemas/problem.ts';
import { Id } from '../schemas/values.ts';
import { body, json, security } from './shared.ts';

const tags = ['Keys'];
const params = z.object({ key_id: Id });

const createKey = createRoute({
  method: 'post',
  path: '/v1/keys',
  operationId: 'createKey',
  tags,
  security,
  summary: 'Create an API key',
  description:
    'The new key gets no more rights than the key that creates it: no other scope, tenant, agent or thread, no higher limit, no later expiry.',
  request: { body: body(NewKey) },
  responses: { 201: json('The key.', MintedKey), ...problems(...bodyProblems) },
});

const list = createRoute({
  method: 'get',
  path: '/v1/keys',
  operationId: 'listKeys',
  tags,
  security,
  summary: 'List the API keys, newest first',
  responses: { 200: json('The keys, without their secrets.', KeyList), ...problems() },
});

const rotate = createRoute({
  method: 'post',
  path: '/v1/keys/{key_id}/rotate',
  operationId: 'rotateKey',
  tags,
  security,
  summary: 'Give a key a new secret',
  description: 'Only for a key that has no more rights than the key of the request.',
  request: { params, body: body(RotateKey) },
  responses: { 201: json('The key with its new secret.', MintedKey), ...problems(...bodyProblems, 404) },
});

const revoke = createRoute({
  method: 'delete',
  path: '/v1/keys/{key_id}',
  operationId: 'revokeKey',
  tags,
  security,
  summary: 'Revoke a key',
  description: 'Servers that have cached the key notice within ten seconds.',
  request: { params },
  responses: { 204: { description: 'The key is revoked.' }, ...problems(404) },
});

const mint = createRoute({
  method: 'post',
  path: '/v1/tokens',
  operationId: 'createBrowserToken',
  tags,
  security,
  summary: 'Mint a short-lived token for a page in a browser',
  description:
    'The token is for one thread or run. It has no more rights than the key that mints it, expires no later, and cannot be revoked.',
  request: { body: body(NewBrowserToken) },
  responses: { 201: json('The token.', BrowserToken), ...problems(...bodyProblems, 422) },
});

export function addKeys(app: ApiApp): void {
  app.openapi(createKey, async (c) => {
    const { limits, ...fields } = c.req.valid('json');
    const given = {
      ...camelKeys(omitUndefined(fields)),
      ...(limits ? { limits: camelKeys(omitUndefined(limits)) } : {}),
    };
    const { principal, lanefold } = c.var;
    const key = { ...given, by: principal.actor } as unknown as NewKeyFields;
    const { expiresInMs } = key;
    assertMayGrant(principal, {
      ...key,
      expiresAtMs: expiresInMs === undefined ? undefined : processClock.now() + expiresInMs,
    });
    return c.json(toJson(await lanefold.keys.create(key)), 201);
  });

  app.openapi(list, async (c) => {
    const found = await c.var.lanefold.keys.list();
    const data = found.map(({ limits, ...key }) => ({
      ...toJson(key),
      ...(limits ? { limits: snakeKeys(limits) } : {}),
    }));
    return c.json({ data } as never, 200);
  });

  app.openapi(rotate, async (c) => {
    const { overlap_ms: overlapMs } = c.req.valid('json');
    const { key_id: id } = c.req.valid('param');
    const { principal, lanefold } = c.var;
    // rotation returns the new secret, so the caller needs every right the key has
    const key = await lanefold.keys.get(id);
    const { clock } = databaseOf(lanefold, 'The API').settings;
    const expiresAtMs = key?.expiresAt ? asHere(clock, key.expiresAt.getTime()) : undefined;
    if (key) assertMayGrant(principal, { ...key, expiresAtMs });
    const minted = await lanefold.keys.rotate(id, omitUndefined({ overlapMs, by: principal.actor }));
    return c.json(toJson(minted), 201);
  });

  app.openapi(revoke, async (c) => {
    await c.var.lanefold.keys.revoke(c.req.valid('param').key_id, { by: c.get('principal').actor });
    return c.body(null, 204);
  });

  app.openapi(mint, (c) => {
    const {
      thread_id: threadId,
      run_id: runId,
      access,
      expires_in_ms: expiresInMs,
      agents: asked,
    } = c.req.valid('json');
    const principal = c.get('principal');
    assertMayMint(principal, access, asked);
    const { actor: by, tenant, limits, expiresAtMs } = principal;
    const agents = asked ?? principal.agents;
    const fields = omitUndefined({ threadId, runId, access, expiresInMs, tenant, agents, limits, expiresAtMs, by });
    return c.json(toJson(c.var.lanefold.keys.browserToken(fields)), 201);
  });
}
