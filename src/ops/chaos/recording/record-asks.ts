import { onStatement } from '../../../database/postgres/sent-statements.ts';
import type { Journal } from '../workload/journal.ts';
import { askingRun } from './record-statements.ts';

/** Records when this process asks the limits, so that a call is known to have been granted after that. */
export const recordAsks = (journal: Journal): (() => void) =>
  onStatement((statement) => {
    const runId = askingRun(statement);
    if (runId === undefined) return;
    const answered = journal.recordAsk(runId);
    statement.answer.then(
      (answer) => answered((answer as { result: { ok?: true } }).result.ok !== true),
      // it may have been granted
      () => {},
    );
  });
