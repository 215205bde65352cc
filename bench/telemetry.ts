import type { Observed } from './processes/observed.ts';
import type { Servers } from './setup.ts';
import { median, quartiles } from './support/median.ts';
import { startProcess, type BenchProcess } from './support/process.ts';

const steps = 100;
const rounds = 30;
/** Unoptimized code costs several times as much, and V8 needs some thousand steps to optimize telemetry. */
const warmUps = 40;

const observed = ['nothing', 'context', 'spans', 'traces', 'metrics'] as const satisfies Observed[];
type Workers = Record<(typeof observed)[number], BenchProcess>;

/** The kinds that are compared. */
const pairs = [
  ['traces', 'nothing'],
  ['context', 'nothing'],
  ['spans', 'nothing'],
  ['metrics', 'nothing'],
] as const;

/**
 * Measures the user CPU time of a worker process per model step with traces or metrics on, compared with one without.
 * Each kind has a separate process, because the code it loads and optimizes slows down shared code. Each pair runs as A
 * B B A, so that other load and drift of the machine affect both alike.
 */
export async function telemetryCost(servers: Servers): Promise<void> {
  const started = await Promise.all(
    observed.map(async (kind) => {
      const process = await startProcess('observed', { databaseUrl: await servers.database(), observed: kind });
      return [kind, process] as const;
    }),
  );
  const workers = Object.fromEntries(started) as Workers;
  const perStep = async (kind: keyof Workers) => (await workers[kind].ask<number>('run', { steps })) / steps;
  for (let round = 0; round < warmUps; round++) {
    for (const kind of observed) await perStep(kind);
  }
  const differences = pairs.map((): number[] => []);
  const nothing: number[] = [];
  for (let round = 0; round < rounds; round++) {
    for (const [i, [more, less]] of pairs.entries()) {
      const first = await perStep(less);
      const both = (await perStep(more)) + (await perStep(more));
      const last = await perStep(less);
      differences[i]!.push((both - first - last) / 2);
      if (less === 'nothing') nothing.push(first, last);
    }
  }
  const [traces, context, spans, metrics] = differences.map(spread);
  console.log(
    `\nUser CPU per model step with one tool call: ${spread(nothing)} without telemetry. Telemetry adds (median and ` +
      `quartiles of ${rounds} differences of runs side by side; goal 0.1 each; ${steps} steps a run):\n` +
      `traces ${traces}\n` +
      `only the context manager of OpenTelemetry, which tracks every promise of the process before Node 24, ${context}\n` +
      `only spans and their metrics, without a context manager, ${spans}\n` +
      `metrics ${metrics}`,
  );
  for (const worker of Object.values(workers)) await worker.stop();
}

function spread(values: number[]): string {
  const [low, high] = quartiles(values);
  return `${median(values).toFixed(3)} ms (${low.toFixed(3)} to ${high.toFixed(3)})`;
}
