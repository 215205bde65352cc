import { z } from '@hono/zod-openapi';
import type { JsonObject } from '../../context/message.ts';
import { idGrammar } from '../../ids.ts';

export const Id = z
  .string()
  .regex(idGrammar, 'Use 1 to 128 characters of [A-Za-z0-9._:@-], starting with a letter or digit.')
  .openapi('Id', {
    description: '1 to 128 of `[A-Za-z0-9._:@-]`, starting with a letter or digit.',
    example: 'support-42',
  });

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A JSON object of the caller's, passed on unchanged. */
export const jsonObject = (description: string) =>
  z
    .custom<JsonObject>(isObject, 'Must be an object.')
    .openapi({ type: 'object', additionalProperties: true, description });

/** Any JSON value in a response. */
export const anyJson = (description: string) => z.any().openapi({ description });

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
export const afterSeq = (what: string) => wholeText(-1, largest, `Return ${what} after this one.`);
export const atSeq = wholeText(
  -1,
  largest,
  'As of this entry, inclusive; a number past the last entry means the last.',
);
export const limit = (fallback: number) => wholeText(1, 1_000, `Maximum number of items; default ${fallback}.`);

export const next = (name: string) =>
  z
    .int()
    .nullable()
    .openapi({ description: `Pass it as \`${name}\` to get the next page; null on the last page.`, example: 99 });
