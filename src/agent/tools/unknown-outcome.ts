import { errorMessage, type Rendered } from './error-message.ts';

/**
 * The outcome that the model reads for a call that may or may not have taken effect, so that it does not simply call
 * again.
 */
export const unknownOutcome = (happened: string): Omit<Rendered, 'status'> & { status: 'unknown' } => ({
  ...errorMessage({
    type: 'unknown_outcome',
    message: `${happened}; whether it took effect is unknown.`,
    retryable: false,
  }),
  status: 'unknown',
});
