import type { AgentRegistry } from '../../agents/registry.ts';
import { slotOutcomes } from '../../schedules/definition.ts';
import { attemptOutcomes } from '../../webhooks/definition.ts';
import { refusedClaims, type Telemetry } from '../telemetry.ts';
import { createInstruments, type Instruments } from './instruments.ts';
import { knownNames, other } from './known-names.ts';
import { MeasuredRun } from './measured-run.ts';

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
    ...{ name: 'lanefold_worker_active_runs', help: 'Runs the worker holds.', registers: [register] },
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
    text: () => register.metrics(),
    close: () => register.clear(),
  };
}

/** Creates each series at 0, because `increase` misses the first count of a new series. */
function startAtZero(instruments: Instruments, agents: readonly string[]): void {
  for (const outcome of attemptOutcomes) instruments.attempts.inc({ outcome }, 0);
  for (const status of slotOutcomes) instruments.slots.inc({ status }, 0);
  for (const agent of [...agents, other]) {
    for (const kind of ['first', 'resumed']) instruments.claims.inc({ agent, kind }, 0);
    for (const status of ['completed', 'failed', 'cancelled', 'suspended']) {
      instruments.runsEnded.inc({ agent, status }, 0);
    }
    for (const of of ['model', 'tool']) instruments.retries.inc({ agent, of }, 0);
    for (const reason of ['lost', 'released', 'failed']) instruments.interrupted.inc({ agent, reason }, 0);
    instruments.lostModelCalls.inc({ agent }, 0);
    for (const reason of refusedClaims) instruments.refused.inc({ agent, reason }, 0);
  }
}
