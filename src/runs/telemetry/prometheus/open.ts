import type { AgentRegistry } from '../../../agent/definition/registry.ts';
import type { ModelTurn } from '../../../agent/context/message.ts';
import { fallbackReasons } from '../../../agent/models/fallback-reason.ts';
import { goesOn } from '../../../agent/strategies/fallback.ts';
import type { StepDraft } from '../../../agent/strategies/machine.ts';
import type { ToolOutcome } from '../../../agent/tools/outcome.ts';
import {
  RunTelemetry,
  type ClaimedRun,
  type Interruption,
  type ObservedModelCall,
  type ObservedToolCall,
  refusedClaims,
  type Telemetry,
  slotOutcomes,
  attemptOutcomes,
} from '../telemetry.ts';
import type { Registry } from 'prom-client';

/**
 * The label for every other name: requests can name any model, jobs can name agents of other workers, and each name costs
 * dozens of series.
 */
const other = 'other';

/** How many names of each label a worker measures by themselves. */
const most = { agents: 20, models: 20, tools: 50 };

/**
 * Limits label values to a bounded number of names from the definitions. Which ones depends on the definitions alone, so
 * that all workers of a fleet agree, and sums over workers are right.
 *
 * @param chosen the agents to measure by themselves; default: those defined first
 * @throws LanefoldError `unknown_agent`
 */
function knownNames(agents: AgentRegistry, chosen: readonly string[] = agents.names.slice(0, most.agents)) {
  const first = [...new Set([...chosen, ...agents.names])].map((name) => agents.get(name));
  const models = first.map(({ model }) => model);
  const tools = [...first.flatMap((agent) => [...agent.tools.keys()]), ...agents.toolNames];
  return {
    agents: chosen,
    agent: among(chosen),
    model: among([...new Set(models)].slice(0, most.models)),
    tool: among([...new Set(tools)].slice(0, most.tools)),
  };
}

const among = (names: readonly string[]) => {
  const known = new Set(names);
  return (name: string): string => (known.has(name) ? name : other);
};

type KnownNames = ReturnType<typeof knownNames>;

/** Counts and times one claim of a run. */
class MeasuredRun extends RunTelemetry {
  readonly #agent: string;

  constructor(
    private readonly instruments: Instruments,
    private readonly known: KnownNames,
    run: ClaimedRun,
  ) {
    super();
    const agent = known.agent(run.agent);
    this.#agent = agent;
    instruments.claims.inc({ agent, kind: run.fresh ? 'first' : 'resumed' });
    instruments.queueWait.observe({ agent }, run.queuedMs / 1000);
  }

  override async modelCall<T extends { turn: ModelTurn }>(
    { name }: ObservedModelCall,
    work: (onFirstPart: () => void) => Promise<T>,
  ): Promise<T> {
    const { firstToken, modelCall, tokens } = this.instruments;
    const labels = { agent: this.#agent, model: this.known.model(name) };
    const startedAt = performance.now();
    let outcome = 'error';
    try {
      const result = await work(() => firstToken.observe(labels, since(startedAt)));
      outcome = 'ok';
      for (const [counter, count] of Object.entries(result.turn.usage)) {
        if (counter !== 'total_tokens') tokens.inc({ ...labels, counter }, count);
      }
      return result;
    } finally {
      modelCall.observe({ ...labels, outcome }, since(startedAt));
    }
  }

  override async toolCall({ call }: ObservedToolCall, work: () => Promise<ToolOutcome>): Promise<ToolOutcome> {
    const { toolCall, retries } = this.instruments;
    const startedAt = performance.now();
    const outcome = await work();
    const labels = { agent: this.#agent, tool: this.known.tool(call.name), status: outcome.status };
    toolCall.observe(labels, since(startedAt));
    if (outcome.attempts > 1) retries.inc({ agent: this.#agent, of: 'tool' }, outcome.attempts - 1);
    return outcome;
  }

  override wrote(durationMs: number): void {
    this.instruments.commit.observe(durationMs / 1000);
  }

  override stepCommitted({ events = [] }: StepDraft): void {
    const { retries, fallbacks } = this.instruments;
    for (const { kind, data = {} } of events) {
      if (kind === 'llm_retry' && goesOn(data))
        fallbacks.inc({ agent: this.#agent, reason: String(data['reason'] ?? 'other') });
      else if (kind === 'llm_retry') retries.inc({ agent: this.#agent, of: 'model' });
      if (kind === 'llm_lost') this.instruments.lostModelCalls.inc({ agent: this.#agent });
    }
  }

  override leaseRenewed(ageMs: number): void {
    this.instruments.leaseAge.observe(ageMs / 1000);
  }

  override ended({ status, limit }: { status: string; limit?: string }): void {
    this.instruments.runsEnded.inc({ agent: this.#agent, status: limit === undefined ? status : noAnswer });
  }

  override interrupted(reason: Interruption): void {
    this.instruments.interrupted.inc({ agent: this.#agent, reason });
  }
}

const since = (startedAt: number): number => (performance.now() - startedAt) / 1000;

export interface WorkerMetrics extends Telemetry {
  /** Prometheus text, format 0.0.4. */
  text(): Promise<string>;
  /** Stops measuring the process. */
  close(): void;
}

/** What a worker measures. */
export interface MetricsOptions {
  /** The agents with series of their own; the others count as `other`. Default: the 20 that are defined first. */
  agents?: readonly string[];
}

/**
 * The metrics of one worker and its process, in a separate registry. Loads `prom-client`.
 *
 * @param active returns how many runs the worker holds now
 * @throws LanefoldError `unknown_agent`
 */
export async function workerMetrics(
  agents: AgentRegistry,
  active: () => number,
  options: MetricsOptions = {},
): Promise<WorkerMetrics> {
  const known = knownNames(agents, options.agents);
  // CommonJS: its names are on the default export
  const { default: client } = await import('prom-client');
  const register = new client.Registry();
  client.collectDefaultMetrics({ register });
  const instruments = createInstruments(client, register);
  new client.Gauge({
    name: 'lanefold_worker_active_runs',
    help: 'Runs the worker holds.',
    registers: [register],
    collect() {
      this.set(active());
    },
  });
  startAtZero(instruments, known.agents);
  return {
    runClaimed: (run) => new MeasuredRun(instruments, known, run),
    runRefused({ agent }, reason) {
      instruments.refused.inc({ agent: known.agent(agent), reason });
      instruments.runsEnded.inc({ agent: known.agent(agent), status: 'failed' });
    },
    attemptEnded: (outcome) => instruments.attempts.inc({ outcome }),
    slotSettled: (status) => instruments.slots.inc({ status }),
    circuitTurned: ({ model, state }) => instruments.circuits.inc({ model: known.model(model), state }),
    text: () => register.metrics(),
    close: () => register.clear(),
  };
}

/** Creates each series at 0, because `increase` misses the first count of a new series. */
/** The status of a run that a limit ended before it had an answer. In the database, such a run is `completed`. */
const noAnswer = 'no_answer';

function startAtZero(instruments: Instruments, agents: readonly string[]): void {
  for (const outcome of attemptOutcomes) instruments.attempts.inc({ outcome }, 0);
  for (const status of slotOutcomes) instruments.slots.inc({ status }, 0);
  for (const agent of [...agents, other]) {
    for (const kind of ['first', 'resumed']) instruments.claims.inc({ agent, kind }, 0);
    for (const status of ['completed', noAnswer, 'failed', 'cancelled', 'suspended']) {
      instruments.runsEnded.inc({ agent, status }, 0);
    }
    for (const of of ['model', 'tool']) instruments.retries.inc({ agent, of }, 0);
    for (const reason of [...fallbackReasons, 'other']) instruments.fallbacks.inc({ agent, reason }, 0);
    for (const reason of ['lost', 'released', 'failed']) instruments.interrupted.inc({ agent, reason }, 0);
    instruments.lostModelCalls.inc({ agent }, 0);
    for (const reason of refusedClaims) instruments.refused.inc({ agent, reason }, 0);
  }
}

type Client = typeof import('prom-client');

/** From 5 ms to 82 s, each boundary twice the previous one: for work that may take as long as a model. */
const seconds = Array.from({ length: 15 }, (_, i) => 0.005 * 2 ** i);
/** From 1 ms to 8 s: for a round trip to the database. */
const shortSeconds = Array.from({ length: 14 }, (_, i) => 0.001 * 2 ** i);

/** The metrics of one worker. Every label has few values: names from the agents' definitions, and our own words. */
function createInstruments({ Counter, Histogram }: Client, register: Registry) {
  const histogram = <Label extends string>(name: string, help: string, labelNames: Label[], buckets = seconds) =>
    new Histogram({ name: `lanefold_worker_${name}`, help, labelNames, buckets, registers: [register] });
  const counter = <Label extends string>(name: string, help: string, labelNames: Label[]) =>
    new Counter({ name: `lanefold_worker_${name}`, help, labelNames, registers: [register] });
  return {
    queueWait: histogram('queue_wait_seconds', 'Time a run spent in the queue before its claim.', ['agent']),
    firstToken: histogram('time_to_first_token_seconds', 'Time to the first part of a streamed answer.', [
      'agent',
      'model',
    ]),
    modelCall: histogram('model_call_seconds', 'Duration of a model call, by outcome: ok or error.', [
      'agent',
      'model',
      'outcome',
    ]),
    toolCall: histogram('tool_call_seconds', 'Duration of a tool call with its attempts, by status.', [
      'agent',
      'tool',
      'status',
    ]),
    commit: histogram('commit_seconds', 'Duration of a database write for a run, including retries.', [], shortSeconds),
    leaseAge: histogram('lease_age_seconds', 'Age of a lease when the worker renewed it.', [], shortSeconds),
    claims: counter('claims_total', 'Claims: first, or resumed after a crash, a release or an approval.', [
      'agent',
      'kind',
    ]),
    runsEnded: counter(
      'runs_ended_total',
      'Runs that ended in this worker, or were suspended, by status; no_answer: at a limit.',
      ['agent', 'status'],
    ),
    retries: counter('retries_total', 'Model calls and tool attempts retried after a failure.', ['agent', 'of']),
    fallbacks: counter('fallbacks_total', 'Model calls that went on to the next model of their chain, by reason.', [
      'agent',
      'reason',
    ]),
    lostModelCalls: counter('lost_model_calls_total', 'Model calls lost with the worker that made them.', ['agent']),
    interrupted: counter('runs_interrupted_total', 'Runs this worker dropped: lost, released or failed.', [
      'agent',
      'reason',
    ]),
    refused: counter('runs_refused_total', 'Runs that the worker ended instead of claiming them.', ['agent', 'reason']),
    attempts: counter('webhook_attempts_total', 'Attempts to deliver an event to a webhook, by outcome.', ['outcome']),
    slots: counter('schedule_slots_total', 'Slots of schedules that this worker settled, by status.', ['status']),
    circuits: counter('circuit_turns_total', 'Circuits of models that this worker saw opened or closed.', [
      'model',
      'state',
    ]),
    tokens: counter('tokens_total', 'Tokens of model calls, by counter of the usage.', ['agent', 'model', 'counter']),
  };
}

type Instruments = ReturnType<typeof createInstruments>;
