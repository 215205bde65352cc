import { checked } from '../../base/operations/checked.ts';
import type { Feature } from '../feature.ts';
import { circuits } from './declaration.ts';
import { circuitsOf } from './operations/circuits.ts';
import type { CircuitRule } from './rule.ts';
import type { Circuits } from './types.ts';

/** @param rule undefined: workers neither count calls nor hold them back */
export const circuitsFeature = (rule: CircuitRule | undefined): Feature<{ circuits: Circuits }> => ({
  operations: (_, db) => ({ circuits: checked(circuits, circuitsOf(db)) }),
  async loadPart() {
    const { circuitsPart } = await import('./worker/part.ts');
    return () => circuitsPart(rule);
  },
});
