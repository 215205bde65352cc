import { LanefoldError, type ErrorCode } from '../../base/errors.ts';
import { oneLine } from '../../base/log/logger.ts';
import { hideUrlCredentials } from '../../base/redaction/sensitive-keys.ts';
import { jsonLogs, note } from './output.ts';
import { constants } from 'node:os';

/** The exit codes of all commands. */
export const exitCodes = {
  ok: 0,
  /** The command failed: a failed run, mismatches, or an error. */
  failed: 1,
  /** The command line is invalid: an unknown command, option, agent or model, or an unreadable file. */
  usage: 2,
} as const;

/** The command line is invalid. */
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

/** Errors of the library that mean the command line is invalid. */
const usageCodes = new Set<ErrorCode>([
  'invalid_id',
  'invalid_input',
  'empty_content',
  'invalid_text',
  'invalid_agent',
  'invalid_tool',
  'invalid_output',
  'invalid_request_transformer',
  'unknown_agent',
  'unknown_model',
  'missing_provider_key',
  'unknown_strategy',
  'unknown_tool',
]);

/** Prints an error on stderr, one line for what happened and one for what to do. Returns the exit code. */
export function report(error: unknown): number {
  const { message, hint, code } = describe(error);
  if (jsonLogs()) {
    note(told(message), { level: 'error', code, hint: hint && hidden(hint) });
    return exitCodeOf(error);
  }
  process.stderr.write(`lanefold: ${told(message)} [${code}]\n`);
  if (hint) process.stderr.write(`hint: ${told(hint)}\n`);
  if (code === 'internal' && process.env['LANEFOLD_DEBUG'] && error instanceof Error)
    process.stderr.write(`${hidden(String(error.stack))}\n`);
  return exitCodeOf(error);
}

/** A driver may quote the URL that it was given. */
const hidden = (text: string): string => hideUrlCredentials(text, '[redacted]');
const told = (text: string): string => oneLine(hidden(text));

export const exitCodeOf = (error: unknown): number =>
  error instanceof UsageError || (error instanceof LanefoldError && usageCodes.has(error.code))
    ? exitCodes.usage
    : exitCodes.failed;

function describe(error: unknown): { message: string; hint: string | undefined; code: string } {
  if (error instanceof UsageError) return { message: error.message, hint: error.hint, code: error.code };
  if (error instanceof LanefoldError) return { message: error.message, hint: error.hint, code: error.code };
  const cause = error instanceof Error && error.cause instanceof Error ? ` (${error.cause.message})` : '';
  const message = error instanceof Error ? `${error.message || error.name}${cause}` : String(error);
  return { message, hint: 'This is a bug in lanefold; set LANEFOLD_DEBUG=1 to see the stack trace.', code: 'internal' };
}

/** Ends a command with an exit code and no further message. */
export class Exit extends Error {
  constructor(readonly exitCode: number) {
    super(`exit ${exitCode}`);
    this.name = 'Exit';
  }
}

/**
 * Resolves with the first SIGINT, SIGTERM or SIGHUP; a second one ends the process immediately. After SIGHUP the
 * terminal is gone: output to it is lost, and writing it must not keep the process from finishing its work.
 */
export function stopSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let stopping = false;
    const onSignal = (signal: NodeJS.Signals) => {
      if (stopping) process.exit(128 + constants.signals[signal]);
      stopping = true;
      if (signal === 'SIGHUP')
        for (const stream of [process.stdout, process.stderr]) stream.removeAllListeners('error').on('error', () => {});
      resolve(signal);
    };
    process.on('SIGINT', onSignal).on('SIGTERM', onSignal).on('SIGHUP', onSignal);
  });
}
