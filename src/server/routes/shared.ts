import { z } from '@hono/zod-openapi';
import { operator, type Principal } from '../../base/access/principal.ts';
import type { TenantLibrary } from '../../features/library/library.ts';
import { Id } from '../declared/wire-schema.ts';
import { invalidRequest } from '../problem.ts';

export const thread = z.object({ thread_id: Id });
export const run = thread.extend({ run_id: Id });

/** Who acts, for the log: a caller may claim any name, so its key is recorded with it. */
export function actedBy({ actor }: Principal, named: string | undefined): string | undefined {
  if (actor === operator.actor) return named;
  return named === undefined ? actor : `${named} (${actor})`;
}

/** Every `/v1` operation requires the API key, if the server has one. */
export const security = [{ bearer: [] }];

export const json = <S extends z.ZodType>(description: string, schema: S) => ({
  description,
  content: { 'application/json': { schema } },
});

export const body = <S extends z.ZodType>(schema: S) => ({
  content: { 'application/json': { schema } },
  required: true as const,
});

export const idempotencyKey = z.object({
  'Idempotency-Key': Id.optional().openapi({
    param: {
      description:
        'A request with the same key does not repeat the operation: it returns the first response, with `Idempotent-Replayed`.',
    },
    example: 'req-7f3a',
  }),
});

/** The idempotency key of a request, from the header or the body. */
export function keyOf(
  headers: z.infer<typeof idempotencyKey>,
  field: string,
  given: string | undefined,
): string | undefined {
  const header = headers['Idempotency-Key'];
  if (header !== undefined && given !== undefined && header !== given) {
    throw invalidRequest([{ path: field, message: 'Differs from the Idempotency-Key header. Send only one of them.' }]);
  }
  return header ?? given;
}

export const replayed = (duplicate: boolean): Record<string, string> =>
  duplicate ? { 'Idempotent-Replayed': 'true' } : {};

export const replayedHeader = {
  headers: z.object({
    'Idempotent-Replayed': z
      .string()
      .optional()
      .openapi({ description: '`true` if this is the response to an earlier request with the same key.' }),
  }),
};

/**
 * Distinguishes an empty list of an existing thread from a missing thread.
 *
 * @throws LanefoldError `thread_not_found`, `thread_erased`
 */
export async function orMissing<T>(
  { threads }: Pick<TenantLibrary, 'threads'>,
  threadId: string,
  found: T[],
): Promise<T[]> {
  if (found.length === 0) await threads.peek(threadId);
  return found;
}
