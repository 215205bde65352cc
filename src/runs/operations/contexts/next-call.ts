import { effectiveAgent, toolsOnly } from '../../../agent/definition/apply-overrides.ts';
import type { AgentRegistry } from '../../../agent/definition/registry.ts';
import { readPolicy, readPolicyJson } from '../../../agent/policy/read-policy.ts';
import type { Database } from '../../../database/postgres/pool.ts';
import { readConfig } from '../../../database/store/context/read-config.ts';
import type { ProjectedCall } from './project.ts';
import type { PolicyView } from './types.ts';
import { readLaneAgent } from '../../../database/store/context/read-context.ts';
import { versionIn } from '../../../agent/definition/run-options.ts';

/**
 * The model call that a run on a lane would make next, or would have made at an entry. It uses the agent of the lane's
 * latest run at that point, in the version of that run, with the thread's configuration applied over it; the view overrides
 * both. If this process does not know the agent or the version, its tools are not counted; an agent that the view names then
 * has the version that this process has.
 *
 * @throws LanefoldError `unknown_agent` for one that the view names, `invalid_policy`
 */
export async function nextCall(
  { db, agents: all }: { db: Database; agents: AgentRegistry },
  { threadId, contextRef, atSeq }: { threadId: string; contextRef: string; atSeq: number | undefined },
  { policy, model, agent: named }: PolicyView,
): Promise<ProjectedCall> {
  const config = await readConfig(db, threadId, contextRef, atSeq);
  const latest = await readLaneAgent(db, threadId, contextRef, atSeq);
  const name = named ?? latest?.agent;
  const ofRun = latest && name === latest.agent ? all.under(name, versionIn(latest.options)) : all;
  const agents = named === undefined || ofRun.has(named) ? ofRun : all;
  const known = name !== undefined && (named !== undefined || agents.has(name)) ? agents.get(name) : undefined;
  const whole = known && effectiveAgent(agents, known, config, null);
  const agent = whole && (agents.strategies.find(whole.strategy).tools ? whole : toolsOnly(whole, []));
  const configured = config.policy == null ? undefined : readPolicyJson(config.policy);
  return {
    policy: policy === undefined ? (agent?.contextPolicy ?? configured ?? readPolicy('window')) : readPolicy(policy),
    model: model ?? agent?.model ?? (named === undefined ? latest?.model : undefined),
    tools: agent?.descriptors ?? [],
    instructions: agent?.output?.instructions,
    maxOutputTokens: agent?.settings.max_output_tokens,
  };
}
