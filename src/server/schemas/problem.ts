import { Problem as Declared } from '../../base/operations/problem.ts';
import { wireSchema } from '../declared/wire-schema.ts';

export const Problem = wireSchema(Declared) as unknown as typeof Declared;

const descriptions = {
  400:
    'The request is malformed: `invalid_json`, `body_incomplete`, `invalid_request`, `invalid_id`, `invalid_text`, `invalid_input`, ' +
    '`empty_content`, `reserved_kind`; or the checkpoint token is invalid: `invalid_token_signature` and others.',
  401: 'The API key is missing or wrong: `unauthorized`.',
  404: 'Not found: `thread_not_found`, `run_not_found`, `tool_call_not_found`, `key_not_found`, `limit_not_found`, `case_not_found`, `eval_not_found`, `dataset_empty`.',
  403: 'Not allowed: the key does not permit it (`forbidden`), the Host or Origin is not accepted (`forbidden_host`, `forbidden_origin`), or the agent does not list the override (`override_not_allowed`).',
  409:
    'Not possible in the current state: `thread_busy`, `lane_busy`, `rev_conflict`, `thread_exists`, `no_active_run`, `other_run_active`, `run_ending`, ' +
    '`not_steerable`, `queue_full`, `context_too_large`, `already_decided`, `not_awaiting_approval`, `run_active`, `case_exists`, `eval_running`, `eval_ended`, `token_stale`, `token_config_mismatch`.',
  410: 'Gone: `thread_erased`, `case_erased`, `token_expired`.',
  408: 'The body did not arrive in time: `body_timeout`.',
  413: 'The body or the input is too large: `body_too_large`, `input_too_large`.',
  415: 'The body is not `application/json`: `unsupported_media_type`.',
  422:
    'Well formed but invalid: `unknown_agent`, `unknown_model`, `unknown_tool`, `invalid_request_transformer`, `invalid_output`, `unknown_strategy`, `missing_provider_key`, `invalid_operation`, ' +
    '`open_tool_group`, `import_refused`, `idempotency_mismatch`, `missing_token_secret`, `case_unverified`.',
  429: 'Too many requests or streams at once: `rate_limited`, with `Retry-After`.',
  500: 'Internal server error: `internal`.',
  501: 'The role with which this server connects to the database may not do this: `role_unfit`.',
  503: 'The database or the queue is unavailable: `database_unreachable`, `database_busy`, `database_full`, `database_timeout`, `database_error`, `thread_locked`, `prepared_statement_lost`, `queue_unreachable`, `not_ready`; or the server is overloaded: `server_busy`. Try again after `Retry-After` seconds.',
} as const;

type Status = keyof typeof descriptions;

const answer = (status: Status) => ({
  description: descriptions[status],
  content: { 'application/problem+json': { schema: Problem } },
});

/** The errors that every operation may return, and the given ones. */
export const problems = (...more: Status[]) =>
  Object.fromEntries(
    [...new Set<Status>([400, 401, 403, ...more, 429, 500, 503])].sort().map((status) => [status, answer(status)]),
  ) as Record<never, never>;

/** Additional errors of operations with a body. */
export const bodyProblems = [408, 413, 415] as const;
