import { LanefoldError, type ErrorCode } from '../errors.ts';
import { oneLine } from '../printable.ts';

/** What the exit code of every command means. */
export const exitCodes = {
  ok: 0,
  /** The work failed: a failed run, mismatches, or anything that stood in the way of it. */
  failed: 1,
  /** The command line is wrong: unknown commands, flags, agents, models, unreadable files. */
  usage: 2,
} as const;

/** The command line cannot be carried out as it is written. */
export class UsageError extends Error {
  constructor(
    message: string,
    readonly hint: string,
    readonly code: 'usage' | ErrorCode = 'usage',
  ) {
    super(message);
    this.name = 'UsageError';
  }
}

/** Errors of the library that only another command line can avoid. */
const usageCodes = new Set<ErrorCode>([
  'invalid_id',
  'invalid_input',
  'invalid_text',
  'invalid_agent',
  'invalid_tool',
  'invalid_output',
  'invalid_request_transformer',
  'unknown_agent',
  'unknown_model',
  'unknown_strategy',
  'unknown_tool',
]);

/** Says on stderr what went wrong, in one line, and what to do, in another; returns the exit code. */
export function report(error: unknown): number {
  const { message, hint, code } = describe(error);
  process.stderr.write(`lanefold: ${oneLine(message)} [${code}]\n`);
  if (hint) process.stderr.write(`hint: ${oneLine(hint)}\n`);
  if (code === 'internal' && process.env['LANEFOLD_DEBUG'] && error instanceof Error)
    process.stderr.write(`${error.stack}\n`);
  return exitCodeOf(error);
}

export const exitCodeOf = (error: unknown): number =>
  error instanceof UsageError || (error instanceof LanefoldError && usageCodes.has(error.code))
    ? exitCodes.usage
    : exitCodes.failed;

function describe(error: unknown): { message: string; hint: string | undefined; code: string } {
  if (error instanceof UsageError) return { message: error.message, hint: error.hint, code: error.code };
  if (error instanceof LanefoldError) return { message: error.message, hint: error.hint, code: error.code };
  const cause = error instanceof Error && error.cause instanceof Error ? ` (${error.cause.message})` : '';
  const message = error instanceof Error ? `${error.message || error.name}${cause}` : String(error);
  return { message, hint: 'This is a fault of lanefold; LANEFOLD_DEBUG=1 shows where.', code: 'internal' };
}
