/** The finish reasons of an answer that its model did not end: a limit or a filter did. */
const reasons = ['length', 'content_filter'] as const;

/**
 * What becomes of a run whose answer, a text, was cut. `end`: it ends with the text. `continue`: the model goes on, if the
 * limit of output tokens cut it; any other cut is an end. `fail`: the run fails with `answer_cut`.
 */
export type OnCut = 'end' | 'continue' | 'fail';

/** How an answer was cut. */
export interface AnswerCut {
  reason: (typeof reasons)[number];
  /** For `length`: the limit of output tokens, as far as it is known. */
  limit?: number;
}

/** Why an answer with this finish reason is not whole; undefined if its model ended it. */
export const cutReason = (finishReason: unknown): AnswerCut['reason'] | undefined =>
  reasons.find((reason) => reason === finishReason);

export const isCut = (finishReason: unknown): finishReason is AnswerCut['reason'] =>
  cutReason(finishReason) !== undefined;

/** A sentence for the model, or for people, that says what cut the answer. */
export const cutText = ({ reason, limit }: AnswerCut, whose: string): string => {
  if (reason === 'content_filter') return `${whose} was stopped by the content filter of the provider`;
  return `${whose} was cut off at its limit of ${limit === undefined ? '' : `${limit} `}output tokens`;
};
