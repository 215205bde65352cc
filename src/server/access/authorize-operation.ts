import type { Context, MiddlewareHandler } from 'hono';
import { routePath } from 'hono/route';
import { assertScope, authorize, otherAgents, RequestRate } from '../../base/access/authorize.ts';
import type { Principal } from '../../base/access/principal.ts';
import { parseJson } from '../../base/common/json.ts';
import { LanefoldError } from '../../base/errors.ts';
import { idGrammar } from '../../base/checks/ids.ts';
import { auditing, databaseOf } from '../../features/library/internals.ts';
import type { Library } from '../../features/library/library.ts';
import type { AuditedAction, AuditedAct } from '../../database/store/access/audited-act.ts';
import { idsOf } from '../../database/store/tenant/tenant-settings.ts';
import type { ApiApp, ApiEnv } from '../env.ts';
import { limitedParties } from './limited-parties.ts';
import { assertSeesThreads, assertUnbound } from './require-unbound.ts';
import { requestSubject, type RequestSubject } from './request-subject.ts';
import type { AccessOf, OperationAccess } from './scopes.ts';

interface AuthorizeOperation {
  /** Before the body: applies the key's limits, and checks its scope. */
  before: MiddlewareHandler<ApiEnv>;
  /** With the body: checks that the key allows the `/v1` operation, whose acts are audited. */
  after: MiddlewareHandler<ApiEnv>;
}

export function authorizeOperation(
  app: ApiApp,
  { audit }: Pick<Library, 'audit'>,
  accessOf: AccessOf,
): AuthorizeOperation {
  const operationOf = operations(app);
  const rate = new RequestRate();
  const auditRead = auditReads(audit);
  const asked = (c: Context<ApiEnv>) => {
    const route = routePath(c, -1);
    return { route, operation: operationOf(`${c.req.method === 'HEAD' ? 'GET' : c.req.method} ${route}`) };
  };
  const before: MiddlewareHandler<ApiEnv> = (c, next) => {
    const principal = c.get('principal');
    takeTurn(rate, principal);
    assertSize(principal, Number(c.req.header('content-length') ?? 0));
    const { operation } = asked(c);
    if (operation !== undefined) assertScope(principal, accessOf(operation).scope);
    return next();
  };
  const after: MiddlewareHandler<ApiEnv> = async (c, next) => {
    const principal = c.get('principal');
    assertSize(principal, c.get('body').byteLength);
    const { route, operation } = asked(c);
    // no route: the answer is 404 or 405
    if (operation === undefined) return next();
    const subject = requestSubject({
      operation,
      route,
      path: c.req.path,
      query: (name) => c.req.query(name),
      body: (c.get('json') as Record<string, unknown> | null) ?? {},
      // runs of a batch may name their request alone
      ids: operation === 'createRuns' ? await idsOf(databaseOf(c.var.lanefold, 'The API')) : undefined,
    });
    const access = accessOf(operation);
    const check = (principal: Principal) => assertAllowed({ ...c.var, principal }, operation, access, subject);
    await check(principal);
    c.set('recheck', async () => {
      const now = await c.var.identify();
      await check(now);
      return now;
    });
    const { threadIds, runId } = subject;
    const [threadId] = threadIds;
    c.set('lanefold', auditing(c.var.lanefold, actsOf(principal, operation, access, subject)));
    if (access.scope === 'read' || access.shows) {
      if (threadIds.length === 0 && access.about !== 'nothing') await auditRead(principal, { operation });
      for (const id of threadIds)
        if (isId(id)) await auditRead(principal, { operation, threadId: id, ...(id === threadId ? { runId } : {}) });
    }
    await next();
    const told = access.audited && access.carriedOutBy.length === 0 && !c.error && c.res.ok;
    if (told) await c.var.lanefold.audit.write(actionOf(principal, operation, subject));
  };
  return { before, after };
}

/** What the audit says of an operation. */
const actionOf = (
  { actor, tenant }: Principal,
  operation: string,
  { tenantId, threadIds: [threadId], runId }: RequestSubject,
): AuditedAction => ({ actor, action: operation, tenantId: tenant ?? tenantId, threadId, runId });

/** The acts of a request that write their rows; the runs that it interrupts have their own. */
function actsOf(
  principal: Principal,
  operation: string,
  { carriedOutBy }: OperationAccess,
  subject: RequestSubject,
): AuditedAct[] {
  const action = actionOf(principal, operation, subject);
  const how = subject.interrupts.length > 0 ? { detail: { busy: 'interrupt' } } : {};
  const interrupts = subject.interrupts.map((threadId): AuditedAct => {
    const { actor, runId } = action;
    return {
      action: { actor, action: operation, threadId, runId, detail: { busy: 'interrupt' } },
      carriedOutBy: 'enqueue_run',
      onlyIf: ([thread, request]) => thread === threadId && interruptsRun(request),
    };
  });
  return [
    ...interrupts,
    ...carriedOutBy.map((one): AuditedAct => ({ action: { ...action, ...how }, carriedOutBy: one })),
  ];
}

/** @param request the argument of `enqueue_run`, maybe as JSON */
const interruptsRun = (request: unknown): boolean =>
  ((typeof request === 'string' ? parseJson(request) : request) as { busy?: string }).busy === 'interrupt';

/** @throws LanefoldError `forbidden` */
async function assertAllowed(
  { principal, lanefold }: Pick<ApiEnv['Variables'], 'principal' | 'lanefold'>,
  operation: string,
  { scope, about, everywhere }: OperationAccess,
  { threadIds, interrupts, ...subject }: RequestSubject,
): Promise<void> {
  if (everywhere) assertUnbound(principal, scope);
  if (about === 'across' || (threadIds.length === 0 && about !== 'nothing')) assertSeesThreads(principal, scope);
  const [first, ...others] = threadIds;
  const asked = { ...subject, operation, scope, threadId: first };
  authorize(principal, asked);
  for (const threadId of others) authorize(principal, { ...asked, threadId });
  // an interrupting run cancels the active runs of these threads
  if (interrupts.length > 0) authorize(principal, { ...asked, scope: 'steer' });
  const { agents } = principal;
  if (!agents) return;
  for (const threadId of threadIds.filter(isId)) {
    if (!(await lanefold.runs.ranOnly(threadId, agents))) throw otherAgents(threadId, agents);
  }
}

const isId = (id: string | undefined): id is string => id !== undefined && idGrammar.test(id);

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
    throw new LanefoldError(
      'rate_limited',
      `${who} may make at most ${limits.requestsPerMinute} requests per minute.`,
      {
        hint: `Try again in ${waitS} s.`,
        details: { retryAfterS: waitS },
      },
    );
  }
}

function assertSize(principal: Principal, bytes: number): void {
  for (const { limits } of limitedParties(principal)) {
    if (limits.bodyBytes === undefined || bytes <= limits.bodyBytes) continue;
    throw new LanefoldError('body_too_large', `A request with this key may have at most ${limits.bodyBytes} bytes.`, {
      hint: 'Send less at once, or use a key with a higher limit.',
    });
  }
}

/** A repeated read is not audited again for this long. */
const againMs = 10 * 60_000;
/** Limit on remembered reads. */
const remembered = 10_000;

interface Read {
  operation: string;
  threadId?: string | undefined;
  runId?: string | undefined;
}

/**
 * Audits reads by keys that are not bound to a tenant: once in ten minutes per operation and thread, so that a polling
 * page does not flood the audit.
 */
function auditReads(audit: Library['audit']): (principal: Principal, read: Read) => Promise<void> {
  const written = new Map<string, number>();
  return async ({ actor, tenant }, { operation, threadId, runId }) => {
    if (tenant !== undefined) return;
    const key = `${actor} ${operation} ${threadId ?? ''}`;
    const now = performance.now();
    if (now - (written.get(key) ?? -Infinity) < againMs) return;
    await audit.writeRead({ actor, action: operation, threadId, runId });
    if (written.size >= remembered) written.clear();
    written.set(key, now);
  };
}
