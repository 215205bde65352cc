import { checked } from '../../base/operations/checked.ts';
import type { Scorer } from '../evals/scorers/scorer.ts';
import type { Feature } from '../feature.ts';
import { monitors } from './declaration.ts';
import { monitorsOf } from './operations/monitors.ts';
import type { Monitors } from './types.ts';

/** @param scorers of the program, besides the built-in ones */
export const monitorsFeature = (scorers: readonly Scorer[]): Feature<{ monitors: Monitors }> => ({
  operations: ({ scopeTo, privatePrefix }, db) => ({
    monitors: checked(monitors, monitorsOf(db, scopeTo, privatePrefix)),
  }),
  async loadPart() {
    const { monitorsPart } = await import('./worker/part.ts');
    return ({ acceptingOn, scopeTo }) => monitorsPart((tenant) => acceptingOn(scopeTo(tenant)), scorers);
  },
});
