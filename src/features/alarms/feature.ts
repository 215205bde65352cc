import { checked } from '../../base/operations/checked.ts';
import type { Feature } from '../feature.ts';
import { alarms } from './declaration.ts';
import { alarmsOf } from './operations/alarms.ts';
import { eraseAlarms } from './store/alarms.ts';
import type { Alarms } from './types.ts';

export const alarmsFeature = (): Feature<{ alarms: Alarms }> => ({
  operations: ({ scopeTo }, db) => ({ alarms: checked(alarms, alarmsOf(db, scopeTo)) }),
  keeper: { eraseTenant: eraseAlarms },
  async loadPart() {
    const { alarmsPart } = await import('./worker/part.ts');
    return ({ scopeTo }) => alarmsPart(scopeTo);
  },
});
