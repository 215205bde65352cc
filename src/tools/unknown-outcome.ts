import { errorMessage, type Rendered } from './error-message.ts';

/** What the model reads of a call that may or may not have taken effect. It must not simply call again. */
export const unknownOutcome = (happened: string): Omit<Rendered, 'status'> & { status: 'unknown' } => ({
  ...errorMessage({
    type: 'unknown_outcome',
    message: `${happened}; whether it took effect is unknown.`,
    retryable: false,
  }),
  status: 'unknown',
});
