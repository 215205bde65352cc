import { UnrecoverableError } from 'bullmq';
import type { RunJobResult } from '../../queue/job.ts';
import type { RunEnd } from '../run/run-end.ts';

/**
 * The return value of an ended run's job. Throws for a failed run, which fails its job without retries. Neither
 * contains text of the conversation: the queue would keep it after the thread is erased.
 */
export function jobResult(end: RunEnd): RunJobResult {
  if (end.status === 'failed' && end.error) throw failedJob(end.error.type);
  return {
    status: end.status,
    ...(end.awaiting ? { awaiting: end.awaiting } : {}),
    ...(end.error ? { error: end.error.type } : {}),
    iterations: end.iteration,
    ...(end.usage ? { tokens: end.usage.total_tokens } : {}),
  };
}

function failedJob(type: string): UnrecoverableError {
  const error = new UnrecoverableError(type);
  // the worker's stack trace would say nothing about the run
  delete error.stack;
  return error;
}
