import type { DerivedIds } from '../../base/checks/ids.ts';
import { parseJson } from '../../base/common/json.ts';

/**
 * The thread a checkpoint token names, not verified here: altering the token to pass this check invalidates its
 * signature, which is checked later.
 */
function threadOfToken(token: unknown): string | undefined {
  if (typeof token !== 'string' || token.length > 10_000) return undefined;
  const [, payload = ''] = token.split('.');
  try {
    const { thread_id: threadId } = parseJson(Buffer.from(payload, 'base64url').toString('utf8')) as Record<
      string,
      unknown
    >;
    return typeof threadId === 'string' ? threadId : undefined;
  } catch {
    return undefined;
  }
}

/** The subject of a request, derived from its path, query and body. */
export interface RequestSubject {
  tenantId: string | undefined;
  /**
   * The threads its operation names, the one it acts on first. `undefined` stands for a thread the request does not
   * name: a new thread, or an invalid request. Empty: the operation concerns no particular thread, whatever the request
   * says.
   */
  threadIds: (string | undefined)[];
  runId: string | undefined;
  /** Agents that its path, query and body name. */
  agents: string[];
  /** The fields of its body. */
  fields: string[];
  /** The threads whose active runs it cancels to start its own. */
  interrupts: string[];
}

export interface ReadRequest {
  operation: string;
  /** As Hono writes it, such as `/v1/threads/:thread_id`. */
  route: string;
  path: string;
  query(name: string): string | undefined;
  body: Record<string, unknown>;
  /** Of the tenant that the threads belong to; undefined: the operation derives none from requests. */
  ids: DerivedIds | undefined;
}

/** The body field in which an operation names a thread; `token` is a checkpoint token. */
const inBody: Readonly<Record<string, string>> = {
  createThread: 'id',
  forkThread: 'id',
  importThread: 'id',
  rerunRun: 'thread_id',
  createBrowserToken: 'thread_id',
  runAgUi: 'threadId',
  resumeRun: 'token',
  collectRun: 'token',
  cancelByToken: 'token',
};

/** The query parameter in which an operation may name another thread. */
const inQuery: Readonly<Record<string, string>> = { diffContexts: 'other_thread_id' };

export function requestSubject({ operation, route, path, query, body, ids }: ReadRequest): RequestSubject {
  const params = paramsIn(route, path);
  const field = inBody[operation];
  const other = inQuery[operation] === undefined ? undefined : query(inQuery[operation]);
  return {
    tenantId: params['tenant_id'],
    threadIds: [
      ...('thread_id' in params ? [params['thread_id']] : []),
      ...(field === undefined ? [] : [field === 'token' ? threadOfToken(body[field]) : text(body[field])]),
      ...(other === undefined ? [] : [other]),
    ],
    runId: params['run_id'] ?? text(body['run_id']),
    agents: [params['agent'], query('agent'), text(body['agent'])].filter((agent) => agent !== undefined),
    fields: Object.keys(body),
    interrupts: interruptedBy(body, params['thread_id'], ids),
  };
}

/** Threads whose active runs the request, or a run of its batch, interrupts. */
function interruptedBy(
  { busy, runs }: Record<string, unknown>,
  threadId: string | undefined,
  ids: DerivedIds | undefined,
): string[] {
  const ofBatch = (Array.isArray(runs) ? runs : []).map((run): [unknown, string | undefined] => {
    const { busy, thread_id: given, request_id: request } = Object(run) as Record<string, unknown>;
    return [busy, text(given) ?? (typeof request === 'string' ? ids?.thread(request) : undefined)];
  });
  const threads = [[busy, threadId] as const, ...ofBatch].flatMap(([how, id]) =>
    how === 'interrupt' && id !== undefined ? [id] : [],
  );
  return [...new Set(threads)];
}

/**
 * The path parameters of a route. Parsed here because Hono gives a middleware only the parameters of its own pattern.
 */
function paramsIn(route: string, path: string): Record<string, string> {
  const parts = path.split('/');
  const named = route.split('/').flatMap((name, at) => (name.startsWith(':') ? [[name.slice(1), parts[at]!]] : []));
  return Object.fromEntries(named.map(([name, part]) => [name, decoded(part!)])) as Record<string, string>;
}

/** Undecodable text stays as it is and then fails the id check. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
