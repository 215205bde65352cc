import type { HistoryCheck } from '../check.ts';
import { answered, before } from '../select.ts';
import { endingOf } from './one-end.ts';

export const cancelsWin: HistoryCheck = {
  name: 'cancels-win',
  scope: 'thread',
  promise: 'A run whose cancellation was accepted before its end was sent ends as cancelled.',
  find: (history) =>
    answered(history, 'cancel')
      .filter(({ answer }) => answer.accepted)
      .flatMap((cancel) =>
        history
          .filter((operation) => before(cancel, operation) && endingOf(operation)?.run === cancel.call.run_id)
          .filter((operation) => endingOf(operation)!.status !== 'cancelled')
          .map((operation) => ({
            what: `run ${cancel.call.run_id} ended as ${endingOf(operation)!.status} after it was cancelled`,
            by: [cancel, operation],
          })),
      ),
};
