import type { HistoryCheck } from '../check.ts';
import { cancelsWin } from './cancels-win.ts';
import { claimsFold } from './claims-fold.ts';
import { commitsOnce } from './commits-once.ts';
import { exclusiveLeases } from './exclusive-leases.ts';
import { firstDecision } from './first-decision.ts';
import { forksBeginThere } from './forks-begin-there.ts';
import { gaplessLog } from './gapless-log.ts';
import { inputsOnce } from './inputs-once.ts';
import { linearizableAppends } from './linearizable-appends.ts';
import { monotonicFences } from './monotonic-fences.ts';
import { neverTwice } from './never-twice.ts';
import { oneActiveRun } from './one-active-run.ts';
import { oneEnd } from './one-end.ts';
import { operationsOnce } from './operations-once.ts';
import { outcomesStay } from './outcomes-stay.ts';
import { requestsOnce } from './requests-once.ts';
import { reservationsConserved } from './reservations-conserved.ts';
import { startsOnce } from './starts-once.ts';

/** Every check of a history. None reads a database: a history is all they know. */
export const operationChecks: readonly HistoryCheck[] = [
  linearizableAppends,
  gaplessLog,
  monotonicFences,
  exclusiveLeases,
  commitsOnce,
  oneActiveRun,
  startsOnce,
  requestsOnce,
  oneEnd,
  cancelsWin,
  inputsOnce,
  operationsOnce,
  firstDecision,
  outcomesStay,
  neverTwice,
  claimsFold,
  forksBeginThere,
  reservationsConserved,
];
