import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { JsonObject } from '../context/message.ts';
import { omitUndefined } from '../../base/common/omit-undefined.ts';
import type { ReadyContract } from '../contracts/contract.ts';
import type { ModelSettings } from '../models/settings/settings.ts';
import type { StoredPolicy } from '../policy/policy.ts';
import type { Tool } from '../tools/tool.ts';
import type { Agent } from './agent.ts';
import { createDefinitionRedactor, type DefinitionRedactor } from './shown-definition.ts';
import type { RequestTransformer } from './transformer.ts';

/** A version of an agent: all that decides how it answers, by the hash of it. */
export interface AgentVersion {
  agent: string;
  /** `v_` and 24 hexadecimal digits. The same definition has the same id in every process. */
  id: string;
  /** The label that its definition gives it; part of the hash only if the definition has values that are hidden. */
  label?: string;
  /** Without values that may be secret. */
  definition: JsonObject;
}

/** An agent whose tools, settings, policy and contract are in their stored form. */
interface Defined extends Omit<
  Agent,
  'tools' | 'settings' | 'requestTransformer' | 'output' | 'contextPolicy' | 'strategy' | 'maxIterations' | 'version'
> {
  strategy: string;
  maxIterations: number | undefined;
  tools: ReadonlyMap<string, Tool>;
  settings: ModelSettings;
  requestTransformer?: RequestTransformer;
  output?: ReadyContract | undefined;
  contextPolicy?: StoredPolicy | undefined;
}

/**
 * The version of an agent: prompt, model, settings, tools with their descriptions and schemas, strategy, context policy,
 * output contract and limits. Code is not part of it: a function counts by its name.
 *
 * Values that may be secret are hidden and do not count: every reader of versions could guess a short one from
 * a hash of it. So that such values can still tell versions apart, the label of a definition that has any counts.
 *
 * @param redactKeys keys whose values are hidden besides the default ones
 */
export function versionOf(agent: Defined, label: string | undefined, redactKeys?: readonly string[]): AgentVersion {
  const redactor = createDefinitionRedactor(redactKeys);
  const definition = definitionOf(agent, redactor);
  const counted = { agent: agent.name, definition, ...(redactor.hid && label !== undefined ? { label } : {}) };
  const hash = createHash('sha256').update(canonicalize(counted) as string);
  const id = `v_${hash.digest('hex').slice(0, 24)}`;
  return { agent: agent.name, id, ...(label === undefined ? {} : { label }), definition };
}

function definitionOf(agent: Defined, hidden: DefinitionRedactor): JsonObject {
  const { output, requestTransformer } = agent;
  const fields = {
    model: agent.model,
    instructions: agent.instructions,
    strategy: agent.strategy,
    strategy_options: hidden.options(agent.strategyOptions),
    settings: hidden.settings(agent.settings),
    streaming: agent.streaming,
    context_policy: agent.contextPolicy,
    output: output && {
      ...{ schema: output.schema, mode: output.mode, max_repairs: output.maxRepairs },
      repair: output.repair?.name,
    },
    request_transformer: requestTransformer?.name,
    tools: [...agent.tools.values()].map((tool) => ({
      name: tool.name,
      description: tool.description,
      input_schema: tool.inputSchema,
      input_examples: hidden.options(tool.inputExamples),
      strict: tool.strict,
      provider_options: hidden.options(tool.providerOptions),
      needs_approval: named(tool.needsApproval),
      replay: typeof tool.replay === 'string' ? tool.replay : 'verify',
      to_agent: tool.toAgent,
    })),
    on_cut: agent.onCut,
    on_end: typeof agent.onEnd === 'object' ? agent.onEnd.request : named(agent.onEnd),
    tool_context: hidden.toolContext(agent.toolContext),
    limits: {
      max_iterations: agent.maxIterations,
      max_total_tokens: agent.maxTotalTokens,
      max_cost: agent.maxCost,
      max_duration_ms: agent.maxDurationMs,
      max_tool_calls: agent.maxToolCalls,
      max_tool_result_bytes: agent.maxToolResultBytes,
      max_depth: agent.maxDepth,
      max_children: agent.maxChildren,
      max_handoffs: agent.maxHandoffs,
    },
  };
  // plain JSON, without what is undefined
  return JSON.parse(JSON.stringify(omitUndefined(fields))) as JsonObject;
}

/** A function counts by its name: the only identity of it that survives a deployment. */
const named = (value: unknown): unknown => (typeof value === 'function' ? value.name || 'function' : value);
