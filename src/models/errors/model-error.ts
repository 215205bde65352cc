import { redactSecrets } from '../../redaction/secrets.ts';

/** Where a model call failed: in its transformer, before an answer began, while it streamed, in reading it, or by silence. */
export type ModelErrorType = 'request_transform' | 'llm_request' | 'llm_stream' | 'llm_response' | 'timeout';

/**
 * A model call that gave no usable turn. `retryable`: the same call may succeed later. `retryAfterMs`: how long the
 * provider asked to wait (milliseconds). `message` is storable, at most 2,000 characters, and has no API key in it.
 */
export class ModelError extends Error {
  readonly errorType: ModelErrorType;
  readonly retryable: boolean;
  readonly retryAfterMs?: number;
  readonly statusCode?: number;

  constructor(
    message: string,
    facts: { errorType: ModelErrorType; retryable: boolean; retryAfterMs?: number; statusCode?: number },
  ) {
    super(redactSecrets(message));
    this.name = 'ModelError';
    this.errorType = facts.errorType;
    this.retryable = facts.retryable;
    if (facts.retryAfterMs !== undefined) this.retryAfterMs = facts.retryAfterMs;
    if (facts.statusCode !== undefined) this.statusCode = facts.statusCode;
  }
}
