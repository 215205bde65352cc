import type { ReadyContract } from '../../contracts/contract.ts';
import type { RunFacts } from '../../strategies/machine.ts';

/** A contract as a machine knows it, and as its events tell of it. */
export const outputFacts = ({ kind, mode, maxRepairs, schema }: ReadyContract): NonNullable<RunFacts['output']> => ({
  mode,
  maxRepairs,
  meta: {
    schema_kind: kind,
    retries: maxRepairs,
    on_validation_error: mode,
    schema_summary: {
      schema_kind: kind,
      required: schema.required ?? [],
      properties: Object.keys(schema.properties ?? {}),
    },
  },
});
