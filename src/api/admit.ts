import { assertGrant } from './assert-grant.ts';

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
