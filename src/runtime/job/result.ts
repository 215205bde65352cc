import { UnrecoverableError } from 'bullmq';
import type { RunError } from '../../strategies/machine.ts';
import type { RunJobResult } from '../../queue/job.ts';
import type { Redactor } from '../../redaction/keys.ts';
import { cleanText } from '../../text.ts';
import type { RunEnd } from '../run/run-end.ts';

/** Enough for a look; the whole answer is in the log. */
const maxAnswerChars = 2_000;

/** What the job of an ended run returns. A failed run is a failed job: throws then, never to be run again. */
export function jobResult(end: RunEnd, redactor: Redactor): RunJobResult {
  if (end.status === 'failed' && end.error) throw failedJob(end.error);
  return {
    status: end.status,
    ...(end.answer === undefined ? {} : { answer: clip(redactor.value(end.answer)) }),
    ...(end.awaiting ? { awaiting: end.awaiting } : {}),
    ...(end.error ? { error: end.error.message } : {}),
    iterations: end.iteration,
    ...(end.usage ? { tokens: end.usage.total_tokens } : {}),
  };
}

function clip(answer: unknown): string {
  const text = typeof answer === 'string' ? answer : JSON.stringify(answer);
  return text.length <= maxAnswerChars ? text : `${text.slice(0, maxAnswerChars).toWellFormed()} …`;
}

function failedJob({ type, message }: RunError): UnrecoverableError {
  const error = new UnrecoverableError(cleanText(`${type}: ${message}`));
  // where in the worker it was thrown tells nobody anything
  delete error.stack;
  return error;
}
