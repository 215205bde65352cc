import { redactSecrets } from '../../../base/redaction/error-text.ts';
import type { TooLong } from './context-too-long.ts';

/**
 * Where a model call failed: in the context policy or the request transformer, before the answer started, while it
 * streamed, while it was parsed, or because the model fell silent; that the request was too long for the model; or which
 * limit kept it from being made.
 */
export type ModelErrorType =
  | 'context_policy'
  | 'request_transform'
  | 'llm_request'
  | 'llm_stream'
  | 'llm_response'
  | 'timeout'
  | 'context_too_long'
  | LimitError;

type LimitError = 'budget_exhausted' | 'limit_too_small' | 'price_unknown';

/**
 * A model call without a usable turn. `retryable` means that the same call may succeed later; `retryAfterMs` is the
 * wait the provider asked for. `message` is storable, at most 2,000 characters long and free of API keys.
 */
export class ModelError extends Error {
  readonly errorType: ModelErrorType;
  readonly retryable: boolean;
  readonly retryAfterMs?: number;
  readonly statusCode?: number;
  /** Set on `context_too_long`. */
  readonly tooLong?: TooLong;

  constructor(
    message: string,
    facts: {
      errorType: ModelErrorType;
      retryable: boolean;
      retryAfterMs?: number;
      statusCode?: number;
      tooLong?: TooLong;
    },
  ) {
    super(redactSecrets(message));
    this.name = 'ModelError';
    this.errorType = facts.errorType;
    this.retryable = facts.retryable;
    if (facts.retryAfterMs !== undefined) this.retryAfterMs = facts.retryAfterMs;
    if (facts.statusCode !== undefined) this.statusCode = facts.statusCode;
    if (facts.tooLong !== undefined) this.tooLong = facts.tooLong;
  }
}
