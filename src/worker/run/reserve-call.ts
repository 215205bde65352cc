import type { JsonObject, Usage } from '../../agent/context/message.ts';
import { isLanefoldError, type LanefoldError } from '../../base/errors.ts';
import { ModelError } from '../../agent/models/model-error.ts';
import { estimateInput } from '../../agent/models/estimate.ts';
import { isTransient } from '../../database/postgres/errors.ts';
import { usualOutputTokens, type CallTokens } from '../../runs/limiter/limited-run.ts';
import { LimitReached, type Reservation } from '../../runs/limiter/run-limits.ts';
import { limitAt } from '../../runs/limiter/refusals.ts';
import type { RunDependencies } from './dependencies.ts';
import type { HeldRun } from './held-run.ts';
import type { PreparedCall } from './prepare-call.ts';

/**
 * Reserves what a model call may use of the run's budget and of the limits that apply to it.
 *
 * @throws LimitReached if the run has to wait
 * @throws ModelError `budget_exhausted`, `limit_too_small`, `price_unknown`: the run has to end
 */
export async function reserveCall(
  { counting }: Pick<RunDependencies, 'counting'>,
  run: Pick<HeldRun, 'limits' | 'budget' | 'reached' | 'exhausted'>,
  { model, messages, tools, settings }: Pick<PreparedCall, 'model' | 'messages' | 'tools' | 'settings'>,
): Promise<Reservation | undefined> {
  const limited = run.limits?.applies(model);
  if (!limited && !run.budget) return undefined;
  const tokens = {
    inputTokens: estimateInput(counting, model, messages, tools),
    outputTokens: settings.max_output_tokens ?? usualOutputTokens,
  };
  try {
    return await reserve(run, model, tokens);
  } catch (error) {
    const errorType = ends.find((code) => isLanefoldError(error, code));
    if (!errorType) throw error;
    const { message, hint, details } = error as LanefoldError;
    if (errorType === 'budget_exhausted') run.exhausted = details as JsonObject;
    throw new ModelError(`${message} ${hint}`, { errorType, retryable: false });
  }
}

async function reserve(
  { limits, budget, reached }: Pick<HeldRun, 'limits' | 'budget' | 'reached'>,
  model: string,
  tokens: CallTokens,
): Promise<Reservation> {
  const own = await budget?.take(model, tokens);
  try {
    const shared = await limits?.take(model, tokens);
    reached.push(...(shared?.passed ?? []).map(limitAt));
    return {
      end(used, how) {
        own?.end(used, how);
        shared?.end(used, how);
      },
    };
  } catch (error) {
    own?.end();
    throw error;
  }
}

const ends = ['budget_exhausted', 'limit_too_small', 'price_unknown'] as const;

/** The call was not made, or not counted: an error of the run and not of the model. */
export const isOfLimits = (error: unknown): boolean =>
  error instanceof LimitReached || isTransient(error) || isLanefoldError(error, 'database_error');

/** The call has ended with this usage. Returns undefined, so that a call is settled once. */
export function settleCall(reserved: Reservation | undefined, usage: Usage): undefined {
  reserved?.end({
    inputTokens: usage.input_tokens,
    outputTokens: usage.output_tokens,
    cachedTokens: usage.cache_read_tokens ?? 0,
    writtenTokens: usage.cache_write_tokens ?? 0,
  });
  return undefined;
}

/** The call has ended without an answer. A provider that has not refused it may have counted it. */
export function abandonCall(reserved: Reservation | undefined, error: unknown): void {
  const refused = error instanceof ModelError && error.statusCode !== undefined;
  reserved?.end(undefined, refused ? 'refused' : 'lost');
}
