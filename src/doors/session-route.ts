import type { EnqueueOptions } from '../runs/operations/runs/enqueue-options.ts';
import { assertId } from '../base/checks/ids.ts';
import { isLanefoldError, LanefoldError } from '../base/errors.ts';
import type { RecordedThread } from '../database/store/log/types.ts';
import { threadNotFound } from '../database/store/missing.ts';
import type { Library, TenantLibrary } from '../features/library/library.ts';
import { logErrors, withSafePath } from '../server/log-errors.ts';
import { problemHeaders, toProblem } from '../server/problem.ts';
import { defaultMaxBodyBytes } from '../server/read-body.ts';

/** The part of a grant that every route needs. */
interface ThreadGrant {
  threadId: string;
  tenantId?: string;
}

type Verdict<Grant> = Grant | Response | null | undefined | false;

type Authorization<Asked, Grant> = Verdict<Grant> | ((asked: Asked) => Verdict<Grant> | Promise<Verdict<Grant>>);

interface RouteOptions<Asked, Grant> {
  authorize(request: Request): Authorization<Asked, Grant> | Promise<Authorization<Asked, Grant>>;
  maxBodyBytes?: number;
  onError?: (error: unknown, request: { method: string; path: string }) => void;
}

interface Route<Asked, Grant> {
  /** The function that users call, for errors. */
  name: string;
  /** An `authorize` for signed-in users, for the hint. */
  example: string;
  /** Says why a request without a grant is rejected. */
  refusal: string;
  /** Checks a request without reading its body; the result reads it. */
  open(request: Request, maxBodyBytes: number): () => Promise<Asked>;
  answer(request: Request, asked: Asked, grant: Grant, report: (error: unknown) => void): Promise<Response>;
}

/**
 * A route of an application for its signed-in users, in terms of the web's `Request` and `Response`.
 *
 * @throws LanefoldError `invalid_input` without `authorize`
 */
export function createSessionRoute<Asked, Grant extends ThreadGrant>(
  lanefold: Library,
  options: RouteOptions<Asked, Grant>,
  route: Route<Asked, Grant>,
): (request: Request) => Promise<Response> {
  const { authorize, maxBodyBytes = defaultMaxBodyBytes } = options;
  const onError = withSafePath(options.onError ?? logErrors(lanefold.log));
  if (typeof authorize !== 'function') {
    throw new LanefoldError(
      'invalid_input',
      `${route.name} requires authorize, which decides who may use which thread.`,
      { hint: `Pass authorize: (request) => ${route.example} for signed-in users, else null.` },
    );
  }
  return async (request) => {
    const report = (error: unknown) => onError(error, { method: request.method, path: new URL(request.url).pathname });
    try {
      const read = route.open(request, maxBodyBytes);
      const admitted = await admit(await authorize(request), read, route.refusal);
      if (admitted instanceof Response) return admitted;
      return await route.answer(request, admitted.asked, admitted.grant, report);
    } catch (error) {
      const problem = toProblem(error);
      if (problem.status >= 500) report(error);
      return new Response(JSON.stringify(problem), {
        status: problem.status,
        headers: problemHeaders(problem.status, error),
      });
    }
  };
}

/**
 * Reads a request only once `authorize` has let its sender in: the answer about the request alone comes first, the body
 * second, and the answer about what it asks for last.
 *
 * @throws LanefoldError `forbidden`, and what `read` throws
 */
async function admit<Asked, Grant extends ThreadGrant>(
  authorized: Authorization<Asked, Grant>,
  read: () => Promise<Asked>,
  refusal: string,
): Promise<{ asked: Asked; grant: Grant } | Response> {
  if (authorized instanceof Response) return authorized;
  if (typeof authorized !== 'function') assertGrant(authorized, refusal);
  const asked = await read();
  const verdict = typeof authorized === 'function' ? await authorized(asked) : authorized;
  if (verdict instanceof Response) return verdict;
  assertGrant(verdict, refusal);
  return { asked, grant: verdict as Grant };
}

/** Rejects anything that names no thread. @throws LanefoldError `forbidden`, `invalid_id` */
function assertGrant(verdict: unknown, refusal: string): void {
  const { threadId, tenantId } = Object(verdict) as { threadId?: unknown; tenantId?: unknown };
  // an id built from an undefined value would be shared by many users, so reject it
  if (typeof threadId !== 'string' || /(^|[._:@-])(undefined|null)($|[._:@-])/.test(threadId)) {
    throw new LanefoldError('forbidden', refusal, {
      hint: 'authorize must return { threadId } for users who may use the thread.',
    });
  }
  assertId(threadId, 'The thread id');
  if (tenantId !== undefined) assertId(tenantId, 'The tenant id');
}

/** The thread of a grant, if it exists already. @throws LanefoldError `thread_not_found` for one of another tenant */
export async function findThread(
  lanefold: TenantLibrary,
  { threadId, tenantId }: ThreadGrant,
): Promise<RecordedThread | undefined> {
  const thread = await lanefold.threads.peek(threadId).catch((error: unknown) => {
    if (isLanefoldError(error, 'thread_not_found')) return undefined;
    throw error;
  });
  if (thread && tenantId !== undefined && thread.tenantId !== tenantId) throw threadNotFound(threadId);
  return thread;
}

/** Enqueues a run on the thread of a grant, and creates that thread for its tenant if it does not exist. */
export async function enqueueGranted(
  lanefold: TenantLibrary,
  { threadId, tenantId }: ThreadGrant,
  thread: RecordedThread | undefined,
  options: EnqueueOptions,
) {
  if (thread || tenantId === undefined) return lanefold.runs.enqueue({ ...options, createThread: true });
  const existing = { ...options, createThread: false };
  try {
    // creates the thread only if its absence is all that prevents the run
    return await lanefold.runs.enqueue(existing);
  } catch (error) {
    if (!isLanefoldError(error, 'thread_not_found')) throw error;
  }
  await lanefold.threads.create({ id: threadId, tenantId }).catch((error: unknown) => {
    // a concurrent first message may have created it
    if (!isLanefoldError(error, 'thread_exists')) throw error;
  });
  await findThread(lanefold, { threadId, tenantId });
  return lanefold.runs.enqueue(existing);
}

/** The error of a grant without an agent. `conversation`: what it is called here. */
export const noAgent = (conversation: string, name: string): LanefoldError =>
  new LanefoldError('unknown_agent', `The ${conversation} has no agent.`, {
    hint: `Pass agent to ${name}, or return one from authorize.`,
  });
