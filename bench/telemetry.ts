import type { Observed } from './processes/observed.ts';
import type { Servers } from './setup.ts';
import { median } from './support/median.ts';
import { startProcess } from './support/process.ts';

const steps = 100;
const rounds = 20;
/** Code that V8 has not optimized yet costs several times as much: telemetry needs some thousand steps until it is. */
const warmUps = 40;

/**
 * Measures the user CPU time of a worker process per model step with traces or metrics on, beside that of one with nothing
 * on. Each has a process of its own, because what one loads and optimizes slows the code it shares with the others.
 */
export async function telemetryCost(servers: Servers): Promise<void> {
  const contestants = await Promise.all(
    (['nothing', 'context', 'traces', 'metrics'] as Observed[]).map(async (observed) => ({
      observed,
      process: await startProcess('observed', { databaseUrl: await servers.database(), observed }),
      spent: [] as number[],
    })),
  );
  for (let round = -warmUps; round < rounds; round++) {
    // another one first in every round: what else the machine does hits all of them
    for (let i = 0; i < contestants.length; i++) {
      const { process, spent } = contestants[(round + warmUps + i) % contestants.length]!;
      const ms = await process.ask<number>('run', { steps });
      if (round >= 0) spent.push(ms / steps);
    }
  }
  const [nothing, context, traces, metrics] = contestants.map(({ spent }) => spent) as [
    number[],
    number[],
    number[],
    number[],
  ];
  const compared = (more: number[], less: number[]) =>
    `${median(more.map((ms, round) => ms - less[round]!)).toFixed(3)} ms`;
  const times = (more: number[]) => median(more.map((ms, round) => ms / nothing[round]!)).toFixed(3);
  console.log(
    `\nUser CPU per model step with one tool call (median of ${rounds} rounds of ${steps} steps, compared round by round): ` +
      `${median(nothing).toFixed(3)} ms without telemetry\n` +
      `with traces ${compared(traces, nothing)} more (goal 0.1), ${times(traces)} times as much: ${compared(context, nothing)} for the ` +
      `context manager of OpenTelemetry, on for every promise of the process, and ${compared(traces, context)} for spans and their metrics\n` +
      `with metrics ${compared(metrics, nothing)} more (goal 0.1), ${times(metrics)} times as much`,
  );
  for (const { process } of contestants) await process.stop();
}
