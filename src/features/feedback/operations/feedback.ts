import { LanefoldError } from '../../../base/errors.ts';
import type { Database } from '../../../database/postgres/pool.ts';
import { requestHash } from '../../../runs/operations/runs/enqueue-request.ts';
import { giveFeedback, listFeedback } from '../store/feedback.ts';
import type { Feedback } from '../types.ts';

export const feedbackOf = (db: Database): Feedback => ({
  async give(threadId, { opId, ...given } = {}) {
    if ((given.answerSeq === undefined) === (given.runId === undefined)) {
      throw new LanefoldError('invalid_input', 'Feedback names either an answer or a run.', {
        hint: 'Pass `answerSeq`, the seq of a message of the assistant, or `runId` for the last answer of a run.',
        details: { field: 'answerSeq' },
      });
    }
    return giveFeedback(db, threadId, { ...given, opId, opHash: opId && requestHash(given) });
  },
  list: ({ limit = 50, ...filter } = {}) => listFeedback(db, { ...filter, limit }),
});
