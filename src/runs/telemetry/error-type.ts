import { LanefoldError } from '../../base/errors.ts';
import { ModelError } from '../../agent/models/errors/model-error.ts';

/** The type of an error, from a small set: our own types and codes, else the name of its class. */
export function errorTypeOf(error: unknown): string {
  if (error instanceof ModelError) return error.errorType;
  if (error instanceof LanefoldError) return error.code;
  return error instanceof Error ? error.name : '_OTHER';
}
