import { assertStorable } from '../../../base/checks/values.ts';
import { LanefoldError } from '../../../base/errors.ts';
import type { Database } from '../../../database/postgres/pool.ts';
import { closeCircuit, openCircuit, readCircuit, readCircuits } from '../store/circuits.ts';
import type { Circuits, ListedCircuit } from '../types.ts';

export function circuitsOf(db: Database): Circuits {
  const find = async (model: string): Promise<ListedCircuit> => {
    const found = await readCircuit(db, model);
    if (found) return found;
    throw new LanefoldError('circuit_not_found', `No worker has called the model ${model}, so it has no circuit.`, {
      hint: 'Nothing was changed. List the circuits with `lanefold circuits`.',
    });
  };
  return {
    list: () => readCircuits(db),
    async open(model, { reason, until }, { by = 'operator' } = {}) {
      assertStorable(reason, 'The reason');
      await openCircuit(db, model, { reason, until, by });
      return find(model);
    },
    async close(model, { by = 'operator' } = {}) {
      await closeCircuit(db, model, by);
      return find(model);
    },
  };
}
