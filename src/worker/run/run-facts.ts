import { iterationLimit, type ReadyAgent } from '../../agent/definition/registry.ts';
import type { ReadyContract } from '../../agent/contracts/contract.ts';
import type { Claim } from '../../database/store/run/claim-run.ts';
import type { HandoffRecord, RunOptions } from '../../agent/definition/run-options.ts';
import type { StrategyMachine, RunFacts } from '../../agent/strategies/machine.ts';
import { questionOf } from './context.ts';

/** What a strategy knows about the run it decides for. */
export const runFacts = (
  runId: string,
  claim: Claim,
  agent: ReadyAgent,
  machine: StrategyMachine,
  since = usedBefore(claim.options),
): RunFacts => ({
  runId,
  model: claim.model,
  ...(agent.chain.models.length > 1 ? { chain: agent.chain } : {}),
  ...(claim.waited ? { waited: true } : {}),
  maxIterations: since.iteration + iterationLimit(agent, machine),
  spent: { tokens: claim.usage?.total_tokens ?? 0, elapsedMs: claim.elapsed_ms },
  question: questionOf(claim),
  ...(machine.options ? { options: machine.options.parse(claim.options?.strategy_options ?? {}) } : {}),
  ...(agent.maxTotalTokens === undefined ? {} : { maxTotalTokens: since.tokens + agent.maxTotalTokens }),
  ...(agent.maxDurationMs === undefined ? {} : { maxDurationMs: since.elapsed_ms + agent.maxDurationMs }),
  maxModelRetries: agent.maxModelRetries,
  cycleWarning: agent.cycleWarning,
  onCut: agent.onCut,
  ...(claim.options?.compaction ? { compaction: claim.options.compaction } : {}),
  ...(agent.output ? { output: outputFacts(agent.output) } : {}),
});

/** What a run had used when its agent took it over: the limits of the agent count from there. */
const usedBefore = (options: RunOptions | null): Pick<HandoffRecord, 'iteration' | 'tokens' | 'elapsed_ms'> =>
  options?.handoffs?.at(-1) ?? { iteration: 0, tokens: 0, elapsed_ms: 0 };

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
