import { toSnakeCase } from '../../base/common/case.ts';
import type { KeysOf } from '../../base/checks/unknown-keys.ts';
import type { Json, JsonObject } from '../context/message.ts';
import type { StoredContract } from '../contracts/contract.ts';
import type { CompactionRequest, StrategySelection } from '../strategies/records.ts';
import type { StoredFallback } from '../models/model-chain.ts';
import type { ModelSettings } from '../models/settings.ts';
import { runOptions, type RunOption } from './option-table.ts';
import { asKeys, type StoredAsGiven } from './options.ts';

/** The options of a run, as `run.options` has them: names and JSON, never code. */
export interface RunOptions extends StoredAsGiven, OfAgent, OfStrategy, Origin, Course {
  /** The version of its agent that it wants: a label or an id. */
  version?: string;
  /** Priority of the job, as in BullMQ. */
  priority?: number;
  on_failure?: 'rewind';
  /** Replaces the tools of the agent and the thread. */
  tools?: string[];
  /** Restricts the tools of the run to these. */
  allowed_tools?: string[];
  settings?: ModelSettings;
  /** As it was given: fields in snake_case, or a preset. */
  context_policy?: Json;
  idle_timeout_ms?: number;
  output?: StoredContract | 'raw';
}

/** What the definition of its agent adds when a run is accepted. */
interface OfAgent {
  /** The model of the agent, if the request named another one. */
  agent_model?: string;
  /** The models that stand in for its own, from the request or its agent. */
  fallback?: StoredFallback;
  /** It continues under the version it started under: true until it starts, then the id of that version. */
  pinned?: true | string;
}

/** What its strategy adds when a run is accepted: the strategy of the request, or that of its agent. */
interface OfStrategy {
  /** The request named its strategy, or options for it. */
  named_strategy?: true;
  /** Options of the strategy that executes the run, with defaults filled in. */
  strategy_options?: JsonObject;
  /** What the strategy `adaptive` chose. */
  selection?: StrategySelection;
  /** False: the run cannot be steered. */
  takes_input?: false;
  /** The strategy's own system prompt, for an agent without one. */
  prompt?: string;
}

/** Where a run came from. A run that repeats it has another origin. */
interface Origin {
  /** The ended run that it repeats, and the thread of that run, if it is another one. */
  retry_of?: string;
  retry_of_thread?: string;
  /** A repeated run asks other agents again. */
  fresh_children?: true;
  /** The run whose checkpoint it continues from. */
  resumed_from?: string;
  /** The call of another run that started it. */
  parent?: ParentCall;
}

/** What kind of run it is, if no request of a user, and what became of it. */
interface Course {
  /** The run only compacts its lane. */
  compaction?: CompactionRequest;
  /** The run answers its lane as it is: it has no input. */
  continues?: true;
  /** The entry with the question that the run answers again. Another run wrote it, on the lane that the branch left. */
  answers?: number;
  /** The lane of the run is a branch that is shown once the run becomes active. */
  shows?: true;
  /** The item of an eval that it belongs to: it gets stand-ins for its tools. */
  eval?: { id: string; no: number };
  /** The handoffs of the run, in order. */
  handoffs?: HandoffRecord[];
  /** The request of a run that was handed over: what it asked of its first agent. */
  asked?: { agent: string; model: string; strategy: string; options: RunOptions };
}

const ofAgent: KeysOf<OfAgent> = { agent_model: true, fallback: true, pinned: true };
const ofStrategy: KeysOf<OfStrategy> = {
  named_strategy: true,
  strategy_options: true,
  selection: true,
  takes_input: true,
  prompt: true,
};
const origin: KeysOf<Origin> = {
  retry_of: true,
  retry_of_thread: true,
  fresh_children: true,
  resumed_from: true,
  parent: true,
};
const course: KeysOf<Course> = {
  compaction: true,
  continues: true,
  answers: true,
  shows: true,
  eval: true,
  handoffs: true,
  asked: true,
};

type Stored = RunOptions | JsonObject;

const decided = { ...ofAgent, ...ofStrategy };
const goneAtHandoff = { ...decided, ...storedNames(({ handoff }) => handoff === undefined) };
const goneInEvals = {
  ...decided,
  ...origin,
  ...course,
  ...storedNames(({ evals }) => evals === undefined || evals === 'bound'),
};
const goneUnderAnother = storedNames(({ evals }) => evals === 'same agent');

/** Without what its agent and its strategy have added. */
export const undecided = <OPTIONS extends Stored>(options: OPTIONS): OPTIONS => without(options, decided);

/** The options of a run from the time on when another agent takes it over. */
export const handedOver = (options: RunOptions): RunOptions => without(options, goneAtHandoff);

/** The options of a run that repeats another one. */
export function repeatedOptions(options: JsonObject): JsonObject {
  // a repeat of an answer asks its question
  const asked = options['answers'] === undefined ? options : without(options, { continues: true, answers: true });
  const repeated = without(asked, { ...origin, shows: true });
  return repeated['pinned'] === undefined ? repeated : { ...repeated, pinned: true };
}

/** The options of a run that an eval repeats; `sameAgent`: with the agent of that run. What its strategy adds is left out. */
export const optionsInEval = (options: JsonObject, sameAgent: boolean): JsonObject =>
  without(options, sameAgent ? goneInEvals : { ...goneInEvals, ...goneUnderAnother });

/** What its strategy has added to the options of a run. */
export const strategyPart = (options: JsonObject | null): JsonObject =>
  Object.fromEntries(Object.entries(options ?? {}).filter(([name]) => Object.hasOwn(ofStrategy, name)));

function storedNames(has: (option: RunOption) => boolean): Record<string, true> {
  const found = Object.entries<RunOption>(runOptions).filter(([, option]) => has(option));
  return asKeys(found.map(([name]) => toSnakeCase(name)));
}

const without = <OPTIONS extends Stored>(options: OPTIONS, names: Record<string, true>): OPTIONS =>
  Object.fromEntries(Object.entries(options).filter(([name]) => !Object.hasOwn(names, name))) as OPTIONS;

/** A handoff, and what the run had used by then: the limits of the next agent count from there. */
export interface HandoffRecord {
  from: string;
  to: string;
  iteration: number;
  tokens: number;
  elapsed_ms: number;
}

/** The version of its agent that a run wants, as the SQL function `_wanted_version` says. */
export const versionIn = (options: RunOptions | null | undefined): string | undefined =>
  typeof options?.pinned === 'string' ? options.pinned : options?.version;

/** The call that started a run, and its place in the tree. */
export interface ParentCall {
  thread_id: string;
  run_id: string;
  round: number;
  index: number;
  root_thread_id: string;
  root_run_id: string;
  /** 1 for the children of the root. */
  depth: number;
  /** The deepest place that a run of this tree may have below it. */
  max_depth: number;
}

/** The tools, tool context and policy that the log of a thread configures, in the form that a claim returns. */
export interface LoggedConfig {
  tools?: { added: string[]; removed: string[] };
  tool_context?: JsonObject;
  /** Fields in snake_case, or a preset; null: the agent's. */
  policy?: Json;
}
