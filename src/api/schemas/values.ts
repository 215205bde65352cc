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

/** Data of the caller's: any JSON object, handed on untouched. */
export const jsonObject = (description: string) =>
  z
    .custom<JsonObject>(isObject, 'Expected an object.')
    .openapi({ type: 'object', additionalProperties: true, description });

/** Any JSON value of an answer. */
export const anyJson = (description: string) => z.any().openapi({ description });

export const timestamp = (description: string) =>
  z.string().openapi({ format: 'date-time', description, example: '2026-11-21T10:15:30.123Z' });

export const count = (description: string, example: number) => z.int().openapi({ description, example });

/** A whole number of a body. */
export const whole = (min: number, max = Number.MAX_SAFE_INTEGER) => z.int().min(min).max(max);

/** A whole number of a query: decimal digits only. */
export const wholeText = (min: number, max: number, description: string) =>
  z
    .string()
    .regex(/^-?\d{1,16}$/, 'Expected a whole number.')
    .transform(Number)
    .pipe(z.int().min(min).max(max))
    .optional()
    .openapi({ param: { description }, type: 'integer', minimum: min, maximum: max });

const largest = Number.MAX_SAFE_INTEGER;
export const afterSeq = (what: string) => wholeText(-1, largest, `Only ${what} after this one.`);
export const atSeq = wholeText(-1, largest, 'As of this entry, inclusive; above the head means the head.');
export const limit = (fallback: number) => wholeText(1, 1_000, `Items at most; default ${fallback}.`);

export const next = (name: string) =>
  z
    .int()
    .nullable()
    .openapi({ description: `Pass it as \`${name}\` for the next page; null on the last one.`, example: 99 });
