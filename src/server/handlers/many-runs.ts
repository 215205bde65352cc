import type { EnqueueOptions } from '../../runs/operations/runs/enqueue-options.ts';
import type { z } from 'zod';
import { isLanefoldError, type LanefoldError } from '../../base/errors.ts';
import { omitUndefined } from '../../base/common/json.ts';
import { fromWire } from '../../base/operations/wire.ts';
import { BatchRun } from '../../runs/operations/runs/declaration.ts';
import { callerOf } from '../access/limited-parties.ts';
import { withinRuns } from '../access/limit-runs.ts';
import type { Handler } from '../declared/routes.ts';
import { wireSchema } from '../declared/wire-schema.ts';
import type { ApiApp } from '../env.ts';
import type { AppOptions } from '../options.ts';
import { toProblem } from '../problem.ts';
import { invalidFields } from '../validation.ts';

/** Accepts the runs of a batch, each with an answer of its own. */
export function enqueueMany(app: ApiApp, onError: NonNullable<AppOptions['onError']>): Handler {
  app.openAPIRegistry.register('BatchRun', wireSchema(BatchRun));
  return async ({ body, c, lanefold, principal }) => {
    const requests = (body['runs'] as unknown[]).map(toRequest);
    const fitting = requests.filter((request): request is EnqueueOptions => !isLanefoldError(request));
    const accept = () => lanefold.runs.enqueueMany(fitting, { from: 'http', ...callerOf(principal) });
    const settled = await withinRuns(c, app, accept, fitting.length);
    const failures = settled.flatMap((one) => (isServerError(one) ? [one.reason as unknown] : []));
    if (failures.length > 0 && failures.length === requests.length) throw failures[0];
    const byCode = new Map(failures.map((error) => [toProblem(error).code, error]));
    for (const error of byCode.values()) onError(error, { method: c.req.method, path: c.req.path });
    const answers = settled.values();
    const data = requests.map((request) => {
      if (isLanefoldError(request)) return { problem: toProblem(request) };
      const answer = answers.next().value!;
      return answer.status === 'fulfilled' ? { run: answer.value } : { problem: toProblem(answer.reason) };
    });
    return { data };
  };
}

const isServerError = (answer: PromiseSettledResult<unknown>): answer is PromiseRejectedResult =>
  answer.status === 'rejected' && toProblem(answer.reason).status >= 500;

/** The options for a run of a batch, or the error that makes them invalid. */
function toRequest(given: unknown): EnqueueOptions | LanefoldError {
  const schema = wireSchema(BatchRun);
  const { success, data, error } = schema.safeParse(given);
  if (!success) return invalidFields(error.issues as z.core.$ZodIssue[], schema);
  return omitUndefined(fromWire(BatchRun, data) as object) as EnqueueOptions;
}
