import { assertId } from '../base/checks/ids.ts';
import { LanefoldError } from '../base/errors.ts';

/** What a user's `authorize` may answer about a request. */
type Verdict<Grant> = Grant | Response | null | undefined | false;

/**
 * Reads a request only once `authorize` has let its sender in: the answer about the request alone comes first, the body
 * second, and the answer about what it asks for last.
 *
 * @param read reads the body
 * @param refusal says why a request without a grant is rejected
 * @throws LanefoldError `forbidden`, and what `read` throws
 */
export async function admit<Asked, Grant extends object>(
  authorized: Verdict<Grant> | ((asked: Asked) => Verdict<Grant> | Promise<Verdict<Grant>>),
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
