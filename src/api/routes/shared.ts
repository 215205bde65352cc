import { z } from '@hono/zod-openapi';
import type { Client } from '../../library/library.ts';
import { Id } from '../schemas/values.ts';
import { invalidRequest } from '../problem.ts';

export const thread = z.object({ thread_id: Id });
export const lane = thread.extend({ context_ref: Id });
export const run = thread.extend({ run_id: Id });

/** Every `/v1` operation needs the key where there is one. */
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
    param: { description: 'The same key again answers as the first time, and does nothing. Sets Idempotent-Replayed.' },
    example: 'req-7f3a',
  }),
});

/** One key for one request: from the header, or from the body. */
export function keyOf(
  headers: z.infer<typeof idempotencyKey>,
  field: string,
  given: string | undefined,
): string | undefined {
  const header = headers['Idempotency-Key'];
  if (header !== undefined && given !== undefined && header !== given) {
    throw invalidRequest([{ path: field, message: 'Differs from the header Idempotency-Key. Give one of the two.' }]);
  }
  return header ?? given;
}

export const replayed = (duplicate: boolean): Record<string, string> =>
  duplicate ? { 'Idempotent-Replayed': 'true' } : {};

export const replayedHeader = {
  headers: z.object({
    'Idempotent-Replayed': z.string().optional().openapi({ description: '`true` where the request was made before.' }),
  }),
};

/** Nothing was found: of a thread that exists, or of one that does not? @throws LanefoldError `thread_not_found`, `thread_erased` */
export async function orMissing<T>(lanefold: Client, threadId: string, found: T[]): Promise<T[]> {
  if (found.length === 0) await lanefold.threads.get(threadId);
  return found;
}

/** Without the keys whose value is undefined, which an optional field of a body is. */
export const omitUndefined = <T extends object>(fields: T): { [K in keyof T]: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;
