import type { Tool } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { LanefoldError } from '../../../base/errors.ts';

/** The JSON Schema of a tool's arguments. Without a dialect, which some clients do not know. */
export function inputSchemaOf(schema: z.ZodType): Tool['inputSchema'] {
  const { $schema: _, ...json } = z.toJSONSchema(schema, { io: 'input' });
  return json as Tool['inputSchema'];
}

/** @throws LanefoldError `invalid_input` that names each wrong argument */
export function readArguments<T>(tool: string, schema: z.ZodType<T>, given: unknown): T {
  const { success, data, error } = schema.safeParse(given ?? {});
  if (success) return data;
  const wrong = error.issues.map(({ path, message }) => (path.length > 0 ? `${path.join('.')}: ${message}` : message));
  throw new LanefoldError('invalid_input', `The arguments of ${tool} are invalid: ${wrong.join('; ')}.`, {
    hint: 'Nothing was started. See its input schema.',
  });
}
