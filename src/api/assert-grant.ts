import { assertId } from '../checks/ids.ts';
import { LanefoldError } from '../errors.ts';

/** Rejects anything that names no thread. @throws LanefoldError `forbidden`, `invalid_id` */
export function assertGrant(verdict: unknown, refusal: string): void {
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
