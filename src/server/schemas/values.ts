import { z } from '@hono/zod-openapi';
import type { JsonObject } from '../../agent/context/message.ts';
import { isObject } from '../../base/common/json.ts';
import { Id as IdHere, objectOf } from '../../base/operations/schemas.ts';
import { Call as CallHere } from '../../database/store/run/declaration.ts';
import { wireSchema } from '../declared/wire-schema.ts';

export const Id = wireSchema(IdHere) as z.ZodString;

/** The caller's JSON object, passed on unchanged. */
export const jsonObject = (description: string) =>
  z
    .custom<JsonObject>(isObject, 'Must be an object.')
    .openapi({ type: 'object', additionalProperties: true, description });

/** Any JSON value in a response, where it is never left out. */
export const anyJson = (description: string) =>
  z
    .any()
    .refine((value) => value !== undefined)
    .openapi({ description });

/** A named schema or null. With `nullable`, the OpenAPI document would not allow null, or would allow it everywhere. */
export const orNull = <S extends z.ZodType>(schema: S) => z.union([schema, z.null()]);

export const timestamp = (description: string) =>
  z.string().openapi({ format: 'date-time', description, example: '2026-11-21T10:15:30.123Z' });

export const count = (description: string, example: number) => z.int().openapi({ description, example });

/** A whole number in a body. */
export const whole = (min: number, max = Number.MAX_SAFE_INTEGER) => z.int().min(min).max(max);

/** A whole number in a query: decimal digits only. */
export const wholeText = (min: number, max: number, description: string) =>
  z
    .string()
    .regex(/^-?\d{1,16}$/, 'Must be a whole number.')
    .transform(Number)
    .pipe(z.int().min(min).max(max))
    .optional()
    .openapi({ param: { description }, type: 'integer', minimum: min, maximum: max });

const largest = Number.MAX_SAFE_INTEGER;
/** The cursor of a page, with the same name in every list. */
export const after = (what: string, by: string) =>
  wholeText(-1, largest, `Return ${what} after this ${by}: the \`next_after\` of the previous page.`);
export const afterCursor = z
  .string()
  .min(1)
  .max(400)
  .optional()
  .openapi({ param: { description: 'The `next_after` of the previous page.' } });
export const atSeq = wholeText(
  -1,
  largest,
  'As of this entry, inclusive; a number past the last entry means the last entry.',
);
export const limit = (fallback: number) => wholeText(1, 1_000, `Maximum number of items; default ${fallback}.`);

/** A JSON object in a query. */
export const jsonText = (description: string, example: JsonObject) =>
  z
    .string()
    .max(4_000)
    .transform((text, context) => {
      const read = objectOf(text);
      if ('value' in read) return read.value as JsonObject;
      context.addIssue({ code: 'custom', message: read.problem });
      return z.NEVER;
    })
    .optional()
    .openapi({ param: { description }, type: 'string', example: JSON.stringify(example) });

/** A timestamp in a query. */
export const moment = (description: string) =>
  z.iso
    .datetime({ offset: true, error: 'Must be a time such as 2026-11-21T10:15:30Z.' })
    .transform((text) => new Date(text))
    .optional()
    .openapi({ param: { description }, type: 'string', format: 'date-time' });

/** `true` or `false` in a query, as text. */
export const trueOrFalse = (description: string) =>
  z.enum(['true', 'false']).optional().openapi({ param: { description } });

/** A switch in a query. */
export const flag = (description: string) =>
  z
    .enum(['true', 'false'])
    .transform((text) => text === 'true')
    .optional()
    .openapi({ param: { description }, type: 'boolean' });

/** Text in a query. */
export const word = (description: string) => z.string().min(1).max(400).optional().openapi({ param: { description } });

const nextPage = 'Pass it as `after` to get the next page; null on the last page.';
export const next = z.int().nullable().openapi({ description: nextPage, example: 99 });
export const nextCursor = z
  .string()
  .nullable()
  .openapi({ description: `${nextPage} A page of a filtered list may be short or empty even if more follow.` });

export const Call = wireSchema(CallHere) as z.ZodString;
