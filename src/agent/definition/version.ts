import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { JsonObject, Json } from '../context/message.ts';
import { toSnakeCase } from '../../base/common/case.ts';
import { omitUndefined, isObject } from '../../base/common/json.ts';
import type { ReadyContract } from '../contracts/contract.ts';
import { hideHeaders, type ModelSettings } from '../models/settings.ts';
import { describedChain, type ModelChain } from '../models/model-chain.ts';
import type { StoredPolicy } from '../policy/policy.ts';
import type { Tool } from '../tools/tool.ts';
import { isLabel, type Agent } from './agent.ts';
import { optionsWith } from './options.ts';
import type { RequestTransformer } from './transformer.ts';
import type { RolloutDefinition, VersionChange } from './types.ts';
import { isDeepStrictEqual } from 'node:util';
import { createKeyRedactor, defaultRedactKeys, mark, type Redactor } from '../../base/redaction/sensitive-keys.ts';
import { LanefoldError } from '../../base/errors.ts';

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

/** The fields of an agent that are in another form once it is resolved. */
export type Resolved =
  | 'tools'
  | 'settings'
  | 'requestTransformer'
  | 'output'
  | 'contextPolicy'
  | 'strategy'
  | 'maxIterations'
  | 'version'
  | 'model';

/** An agent whose tools, settings, policy and contract are in their stored form. */
interface Defined extends Omit<Agent, Resolved> {
  chain: ModelChain;
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
    model: describedChain(agent.chain),
    instructions: agent.instructions,
    strategy: agent.strategy,
    strategy_options: hidden.options(agent.strategyOptions),
    settings: hidden.settings(agent.settings),
    streaming: agent.streaming,
    context_policy: agent.contextPolicy,
    output: output && {
      schema: output.schema,
      mode: output.mode,
      max_repairs: output.maxRepairs,
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
      ...Object.fromEntries(optionsWith({ inVersion: true }).map((name) => [toSnakeCase(name), agent[name]])),
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

/** Hides what may be secret in the definition of an agent, which every process stores, and many people read. */
interface DefinitionRedactor {
  settings(settings: ModelSettings): ModelSettings;
  /** Values of sensitive keys, such as `apiKey` in the options of a provider. */
  options<T>(options: T): T;
  toolContext(context: JsonObject): JsonObject;
  /** Whether it has hidden anything. */
  readonly hid: boolean;
}

/**
 * Headers and tool context may hold secrets under any name, so their values are hidden whatever their names; names, and
 * switches (`true`, `false`) of a tool context, stay.
 */
export function createDefinitionRedactor(redactKeys: readonly string[] = []): DefinitionRedactor {
  const redactor = redactorFor(redactKeys);
  let hid = false;
  const hide = <T>(value: T, hidden: T): T => {
    hid ||= !isDeepStrictEqual(value, hidden);
    return hidden;
  };
  const options = <T>(given: T): T => hide(given, redactor.value(given));
  return {
    settings: ({ headers, ...settings }) => ({
      ...options(settings),
      ...(headers && { headers: hide(headers, hideHeaders(headers)) }),
    }),
    options,
    toolContext: (context) => hide(context, hideValues(context) as JsonObject),
    get hid() {
      return hid;
    },
  };
}

/** The keys of `redactKeys` are hidden as well as the default ones: a definition outlives what a process shows. */
const redactorFor = (redactKeys: readonly string[]): Redactor =>
  createKeyRedactor([...new Set([...defaultRedactKeys, ...redactKeys])]);

/** The same structure with every text and number hidden. */
export function hideValues(value: Json): Json {
  if (Array.isArray(value)) return value.map(hideValues);
  if (value === null || typeof value === 'boolean') return value;
  if (typeof value !== 'object') return mark;
  return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, hideValues(child as Json)]));
}

/** What differs between two definitions, in the order of their fields; tools are compared by name. */
export function diffVersions(from: JsonObject, to: JsonObject): VersionChange[] {
  const changes: VersionChange[] = [];
  compare('', byTool(from), byTool(to), changes);
  return changes;
}

function compare(path: string, from: Json | undefined, to: Json | undefined, changes: VersionChange[]): void {
  if (isDeepStrictEqual(from, to)) return;
  if (!isObject(from) || !isObject(to) || path.endsWith('schema')) {
    changes.push({ path, ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) });
    return;
  }
  for (const key of new Set([...Object.keys(from), ...Object.keys(to)]))
    compare(path === '' ? key : `${path}.${key}`, from[key], to[key], changes);
}

/** Tools by name, so that one that is added shows as one change. */
function byTool({ tools, ...definition }: JsonObject): JsonObject {
  if (!Array.isArray(tools)) return definition;
  return { ...definition, tools: Object.fromEntries(tools.map((tool) => [(tool as { name: string }).name, tool])) };
}

const most = 20;

/** Reads a rollout whose fields have been checked. @throws LanefoldError `invalid_input`; `details.field` names the field */
export function readRollout({ shares, key = null }: RolloutDefinition): Rollout {
  const labels = Object.keys(shares);
  if (labels.length === 0 || labels.length > most) throw invalid('shares', `must have 1 to ${most} versions`);
  for (const label of labels)
    if (!isLabel(label)) throw invalid('shares', `has ${JSON.stringify(label)}, which is not a version label`);
  if (Object.values(shares).every((share) => share === 0)) throw invalid('shares', 'must have one version above 0');
  if (key !== null && !/^[a-z][a-z0-9_]{0,31}$/.test(key))
    throw invalid('key', 'must be the name of a limit key, or null for the thread');
  return { shares, key };
}

const invalid = (field: string, problem: string): LanefoldError =>
  new LanefoldError('invalid_input', `The rollout is invalid: ${field} ${problem}.`, {
    hint: 'Nothing was written.',
    details: { field, problem },
  });

/** Which versions of an agent serve its threads. */
export type Rollout = Required<RolloutDefinition>;

/**
 * The version that a rollout chooses for a key: always the same for the same shares. If the share of one version grows, keys
 * move to this version only; if it shrinks, they move away from this one only (weighted rendezvous hashing: Schindelhauer and
 * Schomaker, "Weighted Distributed Hash Tables", 2005).
 *
 * @returns undefined if every share is 0
 */
export function chooseVersion(agent: string, { shares }: Pick<Rollout, 'shares'>, key: string): string | undefined {
  let best: { label: string; score: number } | undefined;
  for (const [label, share] of Object.entries(shares)) {
    if (share <= 0) continue;
    const score = share / -Math.log(pointOf(agent, label, key));
    if (!best || score > best.score) best = { label, score };
  }
  return best?.label;
}

/** A number between 0 and 1, both excluded. */
function pointOf(...parts: string[]): number {
  const hash = createHash('sha256').update(JSON.stringify(parts)).digest();
  return (hash.readUIntBE(0, 6) + 0.5) / 2 ** 48;
}
