import { UnrecoverableError } from 'bullmq';
import type { RunError } from '../../strategies/machine.ts';
import type { RunJobResult } from '../../queue/job.ts';
import type { Redactor } from '../../redaction/sensitive-keys.ts';
import { cleanText } from '../../text.ts';
import type { RunEnd } from '../run/run-end.ts';

/** Enough for a glance; the whole answer is in the log. */
const maxAnswerChars = 2_000;

/** The return value of an ended run's job. Throws for a failed run, which makes it a failed job without retries. */
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
  // the worker's stack trace would say nothing about the run
  delete error.stack;
  return error;
}
