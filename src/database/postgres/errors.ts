import { DrizzleQueryError } from 'drizzle-orm/errors';
import { type ErrorCode, LanefoldError } from '../../base/errors.ts';
import { omitUndefined } from '../../base/common/json.ts';
import { networkErrorCodes } from '../../base/common/network.ts';

/** SQLSTATEs of class LF, raised by the functions in db/sql. */
const codes: Record<string, ErrorCode> = {
  LF001: 'thread_not_found',
  LF002: 'thread_exists',
  LF003: 'thread_erased',
  LF004: 'thread_busy',
  LF005: 'lane_busy',
  LF006: 'rev_conflict',
  LF007: 'idempotency_mismatch',
  LF008: 'open_tool_group',
  LF009: 'reserved_kind',
  LF010: 'invalid_operation',
  LF011: 'run_not_found',
  LF012: 'lease_lost',
  LF013: 'step_ahead',
  LF014: 'invalid_input',
  LF015: 'append_only',
  LF016: 'invalid_id',
  LF017: 'token_stale',
  LF018: 'run_active',
  LF020: 'tool_call_not_found',
  LF021: 'already_decided',
  LF022: 'not_awaiting_approval',
  LF023: 'context_too_large',
  LF024: 'content_not_found',
  LF025: 'no_active_run',
  LF026: 'other_run_active',
  LF027: 'run_ending',
  LF028: 'not_steerable',
  LF029: 'empty_content',
  LF030: 'input_too_large',
  LF031: 'queue_full',
  LF032: 'import_refused',
};

// 08: connection exception, 57P: shutdown in progress, 53300: too many connections, 25006: a standby or demoted primary
const connectionStates = /^(08|57P|53300|25006)/;
const connectionTexts =
  /Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error|Query read timeout/;

/** Messages of a Citus coordinator about a node that it cannot reach. */
const nodeTexts = /connection marked as essential|connection to the remote node/;

const poolEnded = /after calling end on the pool/;

interface PostgresFault {
  code?: string;
  message: string;
  hint?: string;
  syscall?: string;
  errors?: PostgresFault[];
}

const readOnly = '25006';
const lockTimeout = '55P03';
const cancelled = '57014';
const forbidden = '42501';
const deniedFunction = /^permission denied for function (\w+)/;

/** The database is unreachable or the connection broke. It is unknown whether the statement was executed. */
export function isConnectionError(error: unknown): boolean {
  if (error instanceof LanefoldError) return error.code === 'database_unreachable';
  const fault = faultOf(error);
  if (!fault) return false;
  if (fault.errors?.length) return fault.errors.some(isConnectionError);
  const code = fault.code ?? '';
  const message = fault.message ?? '';
  return (
    networkErrorCodes.has(code) ||
    // any other reason a socket cannot be opened, such as a missing file
    fault.syscall === 'connect' ||
    connectionStates.test(code) ||
    [connectionTexts, nodeTexts].some((text) => text.test(message))
  );
}

/** The connection broke after it was established: the statement may have been executed and its answer lost. */
export function isAnswerLost(error: unknown): boolean {
  const fault = faultOf(error instanceof LanefoldError ? error.cause : error);
  if (!isConnectionError(error) || !fault || fault.errors?.length) return false;
  return fault.syscall !== 'connect' && fault.code !== readOnly && !/trying to connect/.test(fault.message);
}

/**
 * The server answers, but the distributed database's node that has the thread does not: threads on other nodes are not
 * affected.
 */
export function isNodeUnreachable(error: unknown): boolean {
  if (error instanceof LanefoldError && error.details?.['node'] !== undefined) return isConnectionError(error);
  const fault = faultOf(error instanceof LanefoldError ? error.cause : error);
  return nodeTexts.test(fault?.message ?? '');
}

/** SQLSTATE of a full disk. */
const diskFull = '53100';

/**
 * SQLSTATEs of a server that could not do its work, whatever the statement: 40 rolled back (such as a deadlock), 53 out
 * of resources, 57 cancelled, 58 a failing file system, XX damaged data. In all of these cases nothing was written.
 */
const transientStates = /^(40|53|55P03|57|58|XX)/;

/** A migration changed a table or view under a prepared statement. A retry on a new connection prepares it again. */
const stalePlan = /cached plan must not change result type/;

const transientCodes = new Set<ErrorCode>([
  'database_busy',
  'database_full',
  'database_timeout',
  'prepared_statement_lost',
  'thread_locked',
]);

/** A server limit that retries cannot overcome, although its SQLSTATE is the one for internal errors (XX000). */
const tooLargeForMemory = /invalid memory alloc request size/;

/** SQLSTATEs caused by a pooler that switches connections: a named statement is missing, or already exists. */
const statementLost = ['26000', '42P05'];

/** SQLSTATEs of a server that does not let this user in. */
const rejected = ['3D000', '28P01', '28000'];

/** SQLSTATEs of a function, schema or table that is missing. */
const outdated = ['42883', '3F000', '42P01'];

/**
 * The thread moved to another node (Citus) while the statement waited: the old node would send rows to the new one, which
 * row-level security rejects (0A000), or the statement has read rows that the old node still keeps, and the unique index of
 * a shard, whose name ends with the shard's number, rejects what follows from these rows (23505). Nothing was written, and
 * a retry goes to the new node.
 */
const threadMoved = ({ code = '', message = '' }: PostgresFault) =>
  (code === '0A000' && message.includes('COPY FROM not supported with row-level security')) ||
  (code === '23505' && /unique constraint "\w+_\d{5,}"$/.test(message));

/** A transient failure that wrote nothing, or a broken connection. Idempotent statements may be retried. */
export function isTransient(error: unknown): boolean {
  if (isConnectionError(error)) return true;
  if (error instanceof LanefoldError && error.code !== 'database_error') return transientCodes.has(error.code);
  const fault = faultOf(error instanceof LanefoldError ? error.cause : error);
  if (tooLargeForMemory.test(fault?.message ?? '')) return false;
  if (!fault) return false;
  return transientStates.test(fault.code ?? '') || stalePlan.test(fault.message ?? '') || threadMoved(fault);
}

const faultOf = (error: unknown): PostgresFault | undefined =>
  (error instanceof DrizzleQueryError ? error.cause : error) as PostgresFault | undefined;

/** Five digits or capitals with at least one digit, which distinguishes PostgreSQL's codes from Node's. */
const sqlState = /^(?=.*\d)[0-9A-Z]{5}$/;

/**
 * Converts an error of `pg` or Drizzle to a LanefoldError; returns any other error unchanged.
 *
 * @param threadId the statement's thread, if it has one
 */
export function fromPostgres(error: unknown, threadId?: string): unknown {
  if (error instanceof LanefoldError) return error;
  const fault = faultOf(error);
  if (!fault) return error;
  const lost = isConnectionError(error);
  if (!lost && poolEnded.test(fault.message ?? '')) return lanefoldClosed(error);
  const meant = meaningOf(fault, lost, threadId);
  if (!meant) return error;
  const { code, message, hint, details } = meant;
  return new LanefoldError(code, message, { ...omitUndefined({ hint, details }), cause: error });
}

interface Meaning {
  code: ErrorCode;
  message: string;
  hint: string | undefined;
  details?: Record<string, unknown>;
}

type Translation = (fault: PostgresFault, threadId: string | undefined) => Meaning;

const ofEach = (states: readonly string[], translation: Translation): Record<string, Translation> =>
  Object.fromEntries(states.map((state) => [state, translation]));

/** What the errors of a statement mean, by their SQLSTATE. */
const byState: Record<string, Translation> = {
  [readOnly]: ({ message }) => ({
    code: 'database_unreachable',
    message: `PostgreSQL accepts no writes: ${message}.`,
    hint: 'Nothing was written. DATABASE_URL leads to a standby; point it at the primary.',
  }),
  [diskFull]: ({ message }) => ({
    code: 'database_full',
    message: `The disk of PostgreSQL is full: ${message}.`,
    hint: 'Nothing was written. Free space on the disk of PostgreSQL; active runs then continue on their own.',
  }),
  [lockTimeout]: (_, threadId) => ({
    code: 'thread_locked',
    message: `${threadId === undefined ? 'The thread' : `Thread ${threadId}`} is locked by another transaction.`,
    hint: 'Nothing was written. Try again; if it stays locked, look for an open transaction in pg_stat_activity.',
  }),
  [cancelled]: ({ message }) => ({
    code: 'database_timeout',
    message: `PostgreSQL cancelled the statement: ${message}.`,
    hint: 'Nothing was written. Try again; check statement_timeout and the load of the server.',
  }),
  [forbidden]: ({ message }) => {
    const denied = deniedFunction.exec(message)?.[1];
    const details = { sqlstate: forbidden };
    if (denied === undefined)
      return {
        code: 'database_error',
        message: `The role of DATABASE_URL lacks a right: ${message}.`,
        hint: 'Nothing was written. Run `lanefold roles` to see which rights each role needs, and grant them.',
        details,
      };
    return {
      code: 'role_unfit',
      message: `The role with which this process connects may not call ${denied}.`,
      hint:
        'Nothing was written. Use a process that connects with a role that may, such as the role of an API or the owner of ' +
        'the schema; `lanefold roles` creates them.',
      details,
    };
  },
  ...ofEach(statementLost, ({ message }) => ({
    code: 'prepared_statement_lost',
    message: `A connection pooler lost a prepared statement: ${message}.`,
    hint: 'Nothing was written. Set LANEFOLD_PREPARED_STATEMENTS=off in every process, or use PgBouncer 1.21 with max_prepared_statements.',
  })),
  ...ofEach(rejected, ({ message }) => ({
    code: 'database_unreachable',
    message: `PostgreSQL rejected the connection: ${message}.`,
    hint: 'Check the database name, user and password in DATABASE_URL.',
  })),
  ...ofEach(outdated, ({ message }) => ({
    code: 'database_outdated',
    message: `The Lanefold schema is missing or outdated: ${message}.`,
    hint: 'Run `lanefold migrate`.',
  })),
};

/** What an error of PostgreSQL means to the caller. */
function meaningOf(fault: PostgresFault, lost: boolean, threadId: string | undefined): Meaning | undefined {
  const { message = '', code: state = '' } = fault;
  const own = codes[state];
  if (own) return { code: own, message, hint: fault.hint || undefined };
  if (lost && state !== readOnly)
    return {
      code: 'database_unreachable',
      message: `Cannot reach PostgreSQL: ${describe(fault)}.`,
      hint: 'Check DATABASE_URL and whether the server is running; unset DATABASE_URL to use the embedded PostgreSQL.',
    };
  const known = byState[state];
  if (known) return known(fault, threadId);
  if (threadMoved(fault))
    return {
      code: 'thread_locked',
      message: `${threadId === undefined ? 'The thread' : `Thread ${threadId}`} moved to another node of the database while a statement waited for the thread.`,
      hint: 'Nothing was written. Try again: the thread has its new node now.',
    };
  if (!sqlState.test(state)) return undefined;
  return {
    code: 'database_error',
    message: `A statement failed in PostgreSQL (${state}): ${message}.`,
    hint: 'Nothing was written. Look up the SQLSTATE; the log of PostgreSQL has the details.',
    details: { sqlstate: state },
  };
}

const describe = (fault: PostgresFault): string =>
  fault.errors?.map((e) => e.message).join('; ') || fault.message || fault.code || 'unknown';

export const lanefoldClosed = (cause?: unknown): LanefoldError =>
  new LanefoldError('lanefold_closed', 'This Lanefold instance is closed.', {
    hint: 'Do not use it after close(); create a new one. Other workers continue accepted runs.',
    cause,
  });
