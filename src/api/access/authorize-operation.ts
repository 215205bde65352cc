import type { MiddlewareHandler } from 'hono';
import { routePath } from 'hono/route';
import { authorize } from '../../access/authorize.ts';
import type { Principal } from '../../access/principal.ts';
import { RequestRate } from '../../access/rate.ts';
import { LanefoldError } from '../../errors.ts';
import { idGrammar } from '../../ids.ts';
import type { Library } from '../../library/library.ts';
import type { ApiApp, ApiEnv } from '../env.ts';
import { auditReads } from './audit-reads.ts';
import { limitedParties } from './limited-parties.ts';
import { assertSeesThreads, assertUnbound } from './require-unbound.ts';
import { audited, everywhere, operationScopes, overThreads } from './scopes.ts';
import { threadOfToken } from './thread-of-token.ts';

/** Lets an operation of `/v1` pass if the key of the request allows it, within its limits, and notes it in the audit. */
export function authorizeOperation(app: ApiApp, { audit }: Pick<Library, 'audit'>): MiddlewareHandler<ApiEnv> {
  const operationOf = operations(app);
  const rate = new RequestRate();
  const auditRead = auditReads(audit);
  return async (c, next) => {
    const principal = c.get('principal');
    takeTurn(rate, principal);
    assertSize(principal, c.get('body').byteLength);
    const route = routePath(c, -1);
    const operation = operationOf(`${c.req.method === 'HEAD' ? 'GET' : c.req.method} ${route}`);
    // no route: the answer is 404 or 405
    if (operation === undefined) return next();
    const { tenant_id: tenantId, thread_id: inPath, run_id: runId } = paramsIn(route, c.req.path);
    const sent = (await c.req.json<Record<string, unknown>>()) ?? {};
    const threadId = inPath ?? threadOfToken(sent['token']) ?? text(sent[threadFields[operation] ?? '']);
    const other = otherThreads[operation];
    const otherId = other === undefined ? undefined : c.req.query(other);
    const scope = operationScopes[operation] ?? 'admin';
    if (everywhere.has(operation)) assertUnbound(principal, scope);
    if (overThreads.has(operation)) assertSeesThreads(principal, scope);
    authorize(principal, {
      scope,
      tenantId,
      threadId,
      runId: runId ?? text(operation === 'createBrowserToken' && sent['run_id']),
      agent: text(operation === 'createRun' && sent['agent']),
    });
    if (otherId !== undefined) authorize(principal, { scope, threadId: otherId });
    // an id that is none is refused by the operation
    if (audited.has(operation) && [tenantId, threadId, runId].every((id) => id === undefined || idGrammar.test(id))) {
      await c.var.lanefold.audit.write({
        actor: principal.actor,
        action: operation,
        tenantId: principal.tenant ?? tenantId,
        threadId,
        runId,
      });
    }
    if (scope === 'read' && (threadId === undefined ? overThreads.has(operation) : idGrammar.test(threadId)))
      await auditRead(principal, { operation, threadId, runId });
    if (scope === 'read' && otherId !== undefined && idGrammar.test(otherId))
      await auditRead(principal, { operation, threadId: otherId, runId: undefined });
    await next();
  };
}

/** What the path says where the route has a name: Hono tells a middleware only the names of its own pattern. */
function paramsIn(route: string, path: string): Record<string, string | undefined> {
  const parts = path.split('/');
  const named = route.split('/').flatMap((name, at) => (name.startsWith(':') ? [[name.slice(1), parts[at]!]] : []));
  return Object.fromEntries(named.map(([name, part]) => [name, decoded(part!)])) as Record<string, string>;
}

/** A part that cannot be decoded is no id either. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Where a body names the thread that the path does not. */
const threadFields: Record<string, string> = { createThread: 'id', createBrowserToken: 'thread_id' };

/** Where a query names another thread that is read. */
const otherThreads: Record<string, string> = { diffContexts: 'other_thread_id' };

/** The `operationId` of each method and route, as Hono writes the route. */
function operations(app: ApiApp): (route: string) => string | undefined {
  let known: Map<string, string> | undefined;
  return (route) => {
    known ??= new Map(
      app.openAPIRegistry.definitions.flatMap((definition) => {
        if (definition.type !== 'route') return [];
        const { method, path, operationId } = definition.route;
        return [[`${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`, operationId!] as const];
      }),
    );
    return known.get(route);
  };
}

function takeTurn(rate: RequestRate, principal: Principal): void {
  for (const { name, tenant, limits } of limitedParties(principal)) {
    const waitS = limits.requestsPerMinute === undefined ? 0 : rate.take(name, limits.requestsPerMinute);
    if (waitS === 0) continue;
    const who = tenant === undefined ? 'This key' : `Tenant ${tenant}`;
    throw new LanefoldError('rate_limited', `${who} may make ${limits.requestsPerMinute} requests a minute.`, {
      hint: `Try again in ${waitS} s.`,
      details: { retryAfterS: waitS },
    });
  }
}

function assertSize(principal: Principal, bytes: number): void {
  for (const { limits } of limitedParties(principal)) {
    if (limits.bodyBytes === undefined || bytes <= limits.bodyBytes) continue;
    throw new LanefoldError('body_too_large', `This key may send ${limits.bodyBytes} bytes at once.`, {
      hint: 'Send less at once, or use a key that may send more.',
    });
  }
}

const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
