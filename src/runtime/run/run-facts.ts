import type { ReadyAgent } from '../../agents/registry.ts';
import type { ReadyContract } from '../../contracts/contract.ts';
import type { Claim } from '../../store/run/claim-run.ts';
import type { RunFacts } from '../../strategies/machine.ts';

/** What a strategy knows of the run it decides for. */
export const runFacts = (runId: string, claim: Claim, agent: ReadyAgent): RunFacts => ({
  runId,
  model: claim.model,
  maxIterations: agent.maxIterations,
  maxModelRetries: agent.maxModelRetries,
  cycleWarning: agent.cycleWarning,
  ...(agent.output ? { output: outputFacts(agent.output) } : {}),
});

const outputFacts = ({ kind, mode, maxRepairs, schema }: ReadyContract): NonNullable<RunFacts['output']> => ({
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
