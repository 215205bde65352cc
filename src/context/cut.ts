/** The finish reasons of an answer that its model did not end: a limit or a filter did. */
const reasons = ['length', 'content_filter'] as const;

/** How an answer was cut. */
export interface AnswerCut {
  reason: (typeof reasons)[number];
  /** For `length`: the limit of output tokens, as far as it is known. */
  limit?: number;
}

/** Whether an answer with this finish reason was cut. */
export const isCut = (finishReason: string | null | undefined): finishReason is AnswerCut['reason'] =>
  reasons.some((reason) => reason === finishReason);

/** A sentence for the model, or for people, that says what cut the answer. */
export const cutText = ({ reason, limit }: AnswerCut, whose: string): string => {
  if (reason === 'content_filter') return `${whose} was stopped by the content filter of the provider`;
  return `${whose} was cut off at its limit of ${limit === undefined ? '' : `${limit} `}output tokens`;
};
