import type { Feature } from '../feature.ts';
import { checked } from '../../base/operations/checked.ts';
import { cases } from './declaration.ts';
import { evals } from './operations/declaration.ts';
import { casesOf } from './operations/cases.ts';
import { evalsOf } from './operations/evals.ts';
import type { CaseFiles, EvalEnds } from './operations/methods.ts';
import type { Evals } from './operations/types.ts';
import type { Cases } from './types.ts';
import type { Scorer } from './scorers/scorer.ts';
import { eraseCases } from './store/cases.ts';
import { eraseEvals } from './store/items.ts';

/** @param scorers of the program, besides the built-in ones */
export const evalsFeature = (
  scorers: readonly Scorer[],
): Feature<{ evals: Evals & EvalEnds; cases: Cases & CaseFiles }> => ({
  operations: ({ all, agents, privatePrefix: queuePrefix, scopeTo, acceptingOn }, db, runs) => ({
    evals: checked(
      evals,
      evalsOf({
        db,
        all,
        queuePrefix,
        acceptingFor: (tenant) => acceptingOn(db.tenant === undefined ? scopeTo(tenant) : db),
        cancelRun: (run) => runs.cancel(run, 'eval_cancelled'),
      }),
    ),
    cases: checked(cases, casesOf({ db, agents })),
  }),
  // also the data of monitors
  keeper: { eraseTenant: eraseEvals, eraseThread: eraseCases },
  async loadPart() {
    const { evalsPart } = await import('./worker/part.ts');
    return ({ acceptingOn, scopeTo, runsFor, eraseThread }) =>
      evalsPart(
        {
          acceptingFor: (tenant) => acceptingOn(scopeTo(tenant)),
          cancel: (tenant, run) => runsFor(tenant).cancel(run, 'eval_erased'),
          erase: eraseThread,
        },
        scorers,
      );
  },
});
