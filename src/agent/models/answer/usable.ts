import { isCut, type AnswerCut } from '../../context/cut.ts';
import type { ModelTurn } from '../../context/message.ts';
import { ModelError } from '../errors/model-error.ts';

/** Why an answer cannot be used, so that the model is asked again; undefined if it can. */
export function brokenAnswer({ finishReason }: ModelTurn): ModelError | undefined {
  // how providers report a connection that broke mid-answer; half an answer is not an answer
  if (finishReason === 'incomplete') return broken('llm_stream', 'The provider interrupted its answer.');
  // among others, calls that the provider itself could not read
  if (finishReason === 'error') return broken('llm_response', 'The provider ended its answer with an error.');
  return undefined;
}

const broken = (errorType: 'llm_stream' | 'llm_response', message: string) =>
  new ModelError(message, { errorType, retryable: true });

/** How an answer was cut; undefined if the model ended it. The limit is the one that was sent, or the tokens it used. */
export function cutOf({ finishReason, usage }: ModelTurn, maxOutputTokens: number | undefined): AnswerCut | undefined {
  if (!isCut(finishReason)) return undefined;
  const limit = finishReason === 'length' ? (maxOutputTokens ?? usage.output_tokens) : 0;
  return { reason: finishReason, ...(limit > 0 ? { limit } : {}) };
}
