import { z } from 'zod';
import { jsonObject } from '../../base/operations/schemas.ts';
import type { JsonObject } from '../context/message.ts';
import type { OutputOption } from '../contracts/contract.ts';
import type { CallSettings } from '../models/settings.ts';
import { PolicyOption as PolicyForm } from '../policy/declaration.ts';
import type { PolicyOption } from '../policy/types.ts';
import { Models, Output, Settings } from './option-forms.ts';

/** What is said about an option of runs. What an option does, the code that reads it says. */
export interface RunOption {
  /**
   * The form of its value, and its description over HTTP. It checks numbers, switches and choices everywhere; in the
   * library, `toRunOptions` checks the others.
   */
  schema: z.ZodType;
  /** For its error, if the schema does not say it well. */
  must?: string;
  /** For its error; default: to leave it to the agent. */
  hint?: string;
  /**
   * It overrides the agent, if the agent lists it as overridable. `lower`: over HTTP it may only lower the value of the
   * agent, which bears the same name.
   */
  override?: 'replace' | 'lower';
  /** Agents have it under the same name: what their runs get by default. */
  agent?: true;
  /** An agent with another value is another version of it. */
  inVersion?: true;
  /** Schedules may set it for their runs. */
  schedule?: true;
  /** `run.options` keeps it as it is given. `toRunOptions` stores the others. */
  stored?: true;
  /** A repeated request must say the same, whatever its agent made of it when it was stored. */
  repeat?: 'as given';
  /** Stays with a run that another agent takes over; the next agent goes by its own definition otherwise. */
  handoff?: 'kept';
  /**
   * What an eval that repeats the request makes of it. `kept`: it repeats it. `same agent`: only under the agent of the
   * run. `bound`: an eval may set it instead, and a lower value of the agent stays. Default: nothing.
   */
  evals?: 'kept' | 'same agent' | 'bound';
}

const whole = (minimum: number, maximum = Number.MAX_SAFE_INTEGER) => z.int().min(minimum).max(maximum);
const text = (most: number) => z.string().min(1).max(most);
const names = z.array(text(64)).max(1_000);

const object = (description: string) => jsonObject(description) as unknown as z.ZodType<JsonObject>;

/** In US dollars; more than any run can spend. */
const maxCost = 1_000_000;
// more than any request needs; they do not bind an agent's own limits, which the operator chooses
const maxIterations = 10_000;
const maxTimeoutMs = 86_400_000;
/** BullMQ's limit. */
const maxPriority = 2_097_151;

/** What requests may say about how their runs are executed. Everything that lists run options derives from here. */
export const runOptions = {
  /**
   * The version of the agent: a label or an id. A run whose version no worker has waits for one. Default: what a rollout of the agent
   * chooses, else the first of its versions.
   */
  version: {
    schema: text(64).meta({
      description: 'The version of the agent: a label or an id. Default: what its rollout chooses.',
      example: 'b',
    }),
    override: 'replace',
    repeat: 'as given',
  },
  /** Overrides the agent's model for this run: a model, or several of which each stands in for those before it. */
  model: {
    schema: Models.meta({ description: 'Overrides the model of the agent, with those that stand in for it.' }),
    override: 'replace',
    schedule: true,
  },
  /** The name of a strategy: built in, from an agent, or from `createLanefold({ strategies })`. */
  strategy: {
    schema: text(64).meta({ description: 'Overrides the strategy of the agent.', example: 'cot' }),
    override: 'replace',
    schedule: true,
  },
  /** Options of the strategy, merged over the agent's if the agent has the same strategy. */
  strategyOptions: {
    schema: object('Options of the strategy, merged over the agent’s if it has the same strategy.'),
    override: 'replace',
  },
  /** Names of tools of the agent or of `createLanefold({ tools })`; they replace the agent's and the thread's tools. */
  tools: {
    schema: names.meta({ description: 'Names of the tools to use instead of the tools of agent and thread.' }),
    override: 'replace',
    schedule: true,
    evals: 'same agent',
  },
  /** Restricts the tools to these; `[]` for none. */
  allowedTools: {
    schema: names.meta({ description: 'Restricts the available tools to these; an empty array allows none.' }),
    override: 'replace',
    schedule: true,
    evals: 'same agent',
  },
  /** Merged over the agent's `toolContext`. */
  toolContext: {
    schema: object('Merged over the tool context of agent and thread.'),
    override: 'replace',
    schedule: true,
    stored: true,
    handoff: 'kept',
    evals: 'kept',
  },
  /** Merged over the agent's settings, key by key; provider options are replaced whole. */
  settings: {
    schema: (Settings as z.ZodType<CallSettings>).meta({
      description: 'Overrides the settings of the agent, key by key.',
    }),
    override: 'replace',
    evals: 'same agent',
  },
  /** HTTP headers of the model calls, added to those of `settings`. Stored with the run for its workers. */
  headers: {
    schema: z.record(z.string(), z.string().max(10_000)).meta({
      description: 'HTTP headers of the model calls, merged with those in the settings. Stored with the run.',
    }),
    override: 'replace',
  },
  /** The name of a transformer of the agent or of `createLanefold`, instead of the agent's own. */
  requestTransformer: {
    schema: text(200).meta({ description: 'Name of the request transformer to use instead of the agent’s.' }),
    override: 'replace',
    stored: true,
    evals: 'same agent',
  },
  /** How the context is cut before a model call: a policy or a preset, which replaces the agent's and the thread's. */
  contextPolicy: {
    schema: (PolicyForm as z.ZodType<PolicyOption>).meta({
      description: 'Replaces the context policy of agent and thread.',
    }),
    override: 'replace',
    evals: 'kept',
  },
  /**
   * Maximum model calls of a run; default 10, or 200 for strategies that ask many questions. The tools of the last call
   * still run.
   */
  maxIterations: {
    schema: whole(1, maxIterations).meta({ description: 'Maximum number of iterations.' }),
    override: 'lower',
    agent: true,
    inVersion: true,
    schedule: true,
    stored: true,
    evals: 'same agent',
  },
  /**
   * Input and output tokens after which a run makes no more model calls and ends with the best result it has; default
   * none.
   */
  maxTotalTokens: {
    schema: whole(1).meta({
      description: 'Tokens of input and output after which the run ends with the best result it has.',
    }),
    override: 'lower',
    agent: true,
    inVersion: true,
    schedule: true,
    stored: true,
    evals: 'same agent',
  },
  /**
   * What the model calls of a run may cost, in US dollars: a call is not made, and the run ends with the best result it has,
   * if the call could cost more than is left. Needs a model whose price is known; default none.
   */
  maxCost: {
    schema: z.number().positive().max(maxCost).meta({
      description:
        'What the model calls may cost, in US dollars: the run ends with the best result it has before a call that could cost more than is left.',
    }),
    must: 'must be US dollars, more than 0 and at most 1,000,000',
    override: 'lower',
    agent: true,
    inVersion: true,
    schedule: true,
    stored: true,
    handoff: 'kept',
    evals: 'bound',
  },
  /** Time since its start, in ms, after which a run ends with the best result it has; default none. */
  maxDurationMs: {
    schema: whole(1).meta({
      description: 'Time after its start at which the run ends with the best result it has.',
    }),
    override: 'lower',
    agent: true,
    inVersion: true,
    schedule: true,
    stored: true,
    evals: 'bound',
  },
  /** Stream the answer; default true. */
  streaming: {
    schema: z.boolean().meta({ description: 'Whether the model streams its answer.' }),
    override: 'replace',
    agent: true,
    stored: true,
    handoff: 'kept',
    evals: 'kept',
  },
  /** How long a model may stay silent, in ms, before the run fails with `timeout`; default, and 0: `toolTimeoutMs` + 60,000. */
  idleTimeoutMs: {
    schema: whole(0, maxTimeoutMs).meta({
      description: 'How long a model may stay silent before the run fails; 0: the tool timeout + 60,000.',
    }),
    override: 'lower',
    agent: true,
    repeat: 'as given',
    evals: 'kept',
  },
  /** Replaces the agent's contract; `raw` for plain text. */
  output: {
    schema: Output as unknown as z.ZodType<OutputOption>,
    override: 'replace',
    handoff: 'kept',
    evals: 'same agent',
  },
  /** Time limit of one attempt, in ms, for tools that define no timeout; default 15,000. */
  toolTimeoutMs: {
    schema: whole(1, maxTimeoutMs).meta({ description: 'Time limit of one tool attempt.' }),
    override: 'lower',
    agent: true,
    stored: true,
    evals: 'kept',
  },
  /**
   * Priority among the jobs that wait for a worker, as in BullMQ: 0 (default) goes first, then lower numbers before
   * higher ones. On a thread, runs keep their order.
   */
  priority: {
    schema: whole(0, maxPriority).meta({
      description: 'Priority of the job: 0 (default) goes first, then lower numbers before higher ones.',
    }),
    hint: 'Omit it to go first.',
    schedule: true,
    handoff: 'kept',
  },
  /** Values that limits may apply to, such as `{ customer: 'acme' }`. */
  limitKeys: {
    schema: z.record(z.string(), z.string()).meta({
      description: 'Values that limits may apply to, by dimension.',
      example: { customer: 'acme' },
    }),
    schedule: true,
    stored: true,
    handoff: 'kept',
  },
  /** `keep` (default): a failed run stays in the context, closed. `rewind`: the lane goes back to before the run. */
  onFailure: {
    schema: z.enum(['keep', 'rewind']).meta({
      description: 'rewind: after a failure, the lane goes back to its state before the run.',
    }),
    handoff: 'kept',
  },
} satisfies Record<string, RunOption>;
