/**
 * Every error a caller can get, by its stable `code`, with the HTTP status the API returns for it.
 *
 * The database raises errors as SQLSTATE `LF0xx`; `fromPostgres` in `postgres/errors.ts` maps them to these codes.
 */
export const errorStatus = {
  // invalid input; nothing was written
  invalid_id: 400,
  invalid_input: 400,
  empty_content: 400,
  not_a_transaction: 400,
  invalid_text: 400,
  reserved_kind: 400,
  invalid_json: 400,
  invalid_request: 400,
  unsupported_media_type: 415,
  body_too_large: 413,
  resource_too_large: 413,
  body_timeout: 408,
  body_incomplete: 400,
  unknown_agent: 422,
  unknown_version: 404,
  unknown_model: 422,
  unknown_tool: 422,
  missing_provider_key: 422,
  invalid_agent: 422,
  invalid_tool: 422,
  invalid_scorer: 422,
  invalid_request_transformer: 422,
  invalid_output: 422,
  invalid_policy: 422,
  unknown_window: 422,
  invalid_projection: 422,
  validation_timeout: 422,
  unknown_strategy: 422,
  invalid_strategy_options: 422,
  invalid_strategy: 422,
  invalid_operation: 422,
  open_tool_group: 422,
  import_refused: 422,
  distributed_database: 501,
  idempotency_mismatch: 422,
  missing_token_secret: 422,
  // an invalid checkpoint token, by the check it fails
  invalid_token_prefix: 400,
  invalid_token_format: 400,
  invalid_base64: 400,
  invalid_token_signature: 400,
  invalid_token_payload: 400,
  token_version_mismatch: 400,
  invalid_token_issuer: 400,
  token_expired: 410,
  invalid_event_token: 400,
  token_config_mismatch: 409,
  invalid_token_state: 400,
  missing_field: 400,
  invalid_status: 400,
  invalid_context: 400,
  invalid_checkpoint_state: 400,
  // not allowed, or not found
  unauthorized: 401,
  forbidden: 403,
  forbidden_host: 403,
  forbidden_origin: 403,
  override_not_allowed: 403,
  not_found: 404,
  method_not_allowed: 405,
  // not possible in the current state of the thread or run; nothing was written
  thread_not_found: 404,
  run_not_found: 404,
  key_not_found: 404,
  limit_not_found: 404,
  rollout_not_found: 404,
  schedule_not_found: 404,
  webhook_not_found: 404,
  monitor_not_found: 404,
  alarm_not_found: 404,
  circuit_not_found: 404,
  case_not_found: 404,
  dataset_empty: 404,
  eval_not_found: 404,
  eval_running: 409,
  eval_ended: 409,
  case_exists: 409,
  case_erased: 410,
  case_unverified: 422,
  delivery_not_found: 404,
  call_not_found: 404,
  content_not_found: 404,
  tool_call_not_found: 404,
  interrupt_not_found: 404,
  stream_not_found: 404,
  stream_deleted: 410,
  stream_exists: 409,
  stream_closed: 409,
  stream_type_mismatch: 409,
  stream_conflict: 409,
  stale_producer: 403,
  thread_exists: 409,
  thread_erased: 410,
  thread_busy: 409,
  lane_busy: 409,
  rev_conflict: 409,
  session_changed: 409,
  no_active_run: 409,
  interrupt_ended: 409,
  interrupts_open: 409,
  other_run_active: 409,
  run_ending: 409,
  not_steerable: 409,
  queue_full: 409,
  input_too_large: 413,
  context_too_large: 409,
  token_stale: 409,
  run_active: 409,
  strategy_changed: 409,
  lease_lost: 409,
  step_ahead: 409,
  append_only: 409,
  already_decided: 409,
  not_awaiting_approval: 409,
  // a limit would never let the call pass
  budget_exhausted: 409,
  limit_too_small: 422,
  price_unknown: 422,
  // too much at once; try again later
  rate_limited: 429,
  // a dependency is unavailable
  database_unreachable: 503,
  database_busy: 503,
  database_full: 503,
  database_timeout: 503,
  database_error: 503,
  thread_locked: 503,
  prepared_statement_lost: 503,
  database_outdated: 503,
  database_too_new: 503,
  tenants_not_enforced: 503,
  role_unfit: 501,
  log_replaced: 503,
  lanefold_closed: 503,
  queue_unreachable: 503,
  embedded_postgres_failed: 503,
  not_ready: 503,
  server_busy: 503,
  missing_api_key: 503,
  telemetry_unavailable: 503,
  port_taken: 503,
  listen_failed: 503,
  wait_timeout: 504,
  history_unreadable: 500,
  internal: 500,
} as const;

export type ErrorCode = keyof typeof errorStatus;

/**
 * The error class of the whole public API. `message` says what happened, `hint` what to do next; `details` holds facts
 * for programs.
 */
export class LanefoldError extends Error {
  readonly code: ErrorCode;
  readonly hint: string | undefined;
  readonly details: Record<string, unknown> | undefined;

  constructor(
    code: ErrorCode,
    message: string,
    options: { hint?: string; details?: Record<string, unknown>; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'LanefoldError';
    this.code = code;
    this.hint = options.hint;
    this.details = options.details;
  }

  get status(): number {
    return errorStatus[this.code];
  }
}

/**
 * Whether an error is a `LanefoldError`, and has this code where one is given.
 *
 * @example
 * ```ts
 * import { createLanefold, isLanefoldError } from 'lanefold';
 *
 * const lanefold = await createLanefold();
 * try {
 *   await lanefold.runs.get({ threadId: 'support-42', id: 'run_1' });
 * } catch (error) {
 *   if (!isLanefoldError(error, 'run_not_found')) throw error;
 *   console.log(error.status, error.message, error.hint);
 * }
 * await lanefold.close();
 * ```
 */
export const isLanefoldError = (error: unknown, code?: ErrorCode): error is LanefoldError =>
  error instanceof LanefoldError && (code === undefined || error.code === code);
