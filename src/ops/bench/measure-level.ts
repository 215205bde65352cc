import type { LanguageModelV4, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { Durations, type Level } from './report.ts';
import type pg from 'pg';
import { createLanefold } from '../../lanefold/create.ts';
import type { Lanefold } from '../../lanefold/lanefold.ts';
import type { Logger } from '../../base/log/logger.ts';
import { countSessions, readCounters } from '../../database/store/scratch/read-server.ts';
import { measureCosts, type Rig } from './measure-costs.ts';
import { delay } from '../../base/common/timer.ts';
import { LanefoldError } from '../../base/errors.ts';
import { defineAgent } from '../../agent/definition/agent.ts';
import { defineTool } from '../../agent/tools/define-tool.ts';

/** Measures how long runs wait for their first model call. Each question begins with a number, which names its run. */
class FirstCalls {
  readonly waits = new Durations();
  readonly model: LanguageModelV4;
  readonly #requestedAt = new Map<string, number>();
  #asked = 0;

  constructor() {
    const instant = instantModel(1);
    this.model = {
      ...instant,
      doStream: (options) => {
        const last = options.prompt.at(-1)!;
        if (last.role === 'user') this.#called(last.content[0]);
        return instant.doStream(options);
      },
    };
  }

  /** The question of a run that is requested now. */
  ask(): string {
    const no = `${this.#asked++}`;
    this.#requestedAt.set(no, performance.now());
    return `${no} ${text400}`.slice(0, text400.length);
  }

  #called(part: { type: string; text?: string } | undefined): void {
    const no = part!.text!.split(' ', 1)[0]!;
    const requestedAt = this.#requestedAt.get(no);
    // a run that was claimed again calls again
    if (requestedAt === undefined) return;
    this.#requestedAt.delete(no);
    this.waits.add(performance.now() - requestedAt);
  }
}

/** A worker usually has places left for the next runs. */
const leastPlaces = 20;
const warmUpShare = 0.1;
const stopGraceMs = 2_000;
const sessionsEndMs = 5_000;

/**
 * Executes runs in this process as client and worker, and measures all but the first tenth of the time. Commits and disk
 * space count all runs, from the first connection to the last, because open connections report them late.
 */
export async function measureLevel(rig: Rig, load: Load): Promise<Level> {
  const { observer, scratch } = rig;
  const startedAt = performance.now();
  const before = await readCounters(observer, scratch.name);
  const calls = new FirstCalls();
  const lanefold = await open(rig, calls);
  let warmUp: number;
  let measured: Awaited<ReturnType<typeof measureCosts>>;
  try {
    // a place is free once the job of its run has ended, after the run: with as many places as runs, some runs would wait
    const places = Math.max(2 * load.concurrency, leastPlaces);
    await lanefold.startWorker({ concurrency: places, stopGraceMs });
    warmUp = await executeRuns(lanefold, calls, { ...load, seconds: warmUpShare * load.seconds });
    calls.waits.clear();
    measured = await measureCosts(rig, () =>
      executeRuns(lanefold, calls, { ...load, seconds: (1 - warmUpShare) * load.seconds }),
    );
  } finally {
    await lanefold.close();
  }
  await untilSessionsEnd(observer, scratch.name);
  const after = await readCounters(observer, scratch.name);
  const { runs, seconds, connections, ...costs } = measured;
  const elapsedSeconds = (performance.now() - startedAt) / 1_000;
  return {
    concurrency: load.concurrency,
    runs,
    seconds,
    runs_per_second: runs / seconds,
    first_model_call_ms: calls.waits.percentiles(),
    per_run: {
      cpu_ms: costs.cpuMs / runs,
      postgres_cpu_ms: costs.postgresCpuMs === undefined ? null : costs.postgresCpuMs / runs,
      redis_cpu_ms: costs.redisCpuMs === undefined ? null : costs.redisCpuMs / runs,
      wal_bytes: costs.walBytes === undefined ? null : costs.walBytes / runs,
      commits: (after.commits - before.commits) / (warmUp + runs),
      disk_bytes: (after.bytes - before.bytes) / (warmUp + runs),
    },
    connections,
    other_commits_per_second: (after.otherCommits - before.otherCommits) / elapsedSeconds,
  };
}

const open = ({ scratch, redisUrl, queuePrefix, onError }: Rig, { model }: FirstCalls): Promise<Lanefold> =>
  createLanefold({
    databaseUrl: scratch.url,
    directUrl: scratch.url,
    redisUrl,
    queuePrefix,
    queueShards: 1,
    agents: [agent],
    models: { bench: () => model },
    // measuring runs must leave no trace in a collector
    roleCheck: 'off',
    telemetry: false,
    logger: errorsTo(onError),
  });

const errorsTo = (onError: (message: string) => void): Logger => ({
  debug() {},
  info() {},
  warn() {},
  error: (_, message) => onError(message),
});

async function untilSessionsEnd(observer: pg.Client, database: string): Promise<void> {
  const giveUpAt = performance.now() + sessionsEndMs;
  while (performance.now() < giveUpAt && (await countSessions(observer, database)).open > 0) await delay(20);
}

interface Load {
  /** Runs at a time: each one is requested when the one before it has ended. */
  concurrency: number;
  seconds: number;
  signal: AbortSignal;
}

/** If no run ends for this long, something that runs need does not answer. */
const stalledMs = 30_000;

/**
 * Executes runs for some seconds, and returns how many.
 *
 * @throws LanefoldError `wait_timeout` if runs stop ending. Throws the reason of the signal as soon as it is aborted.
 */
async function executeRuns(lanefold: Lanefold, calls: FirstCalls, load: Load): Promise<number> {
  const until = performance.now() + load.seconds * 1_000;
  const over = new AbortController();
  const stop = AbortSignal.any([over.signal, load.signal]);
  let ended = 0;
  const slots = Array.from({ length: load.concurrency }, async () => {
    do {
      await executeRun(lanefold, calls.ask());
      ended++;
    } while (performance.now() < until && !stop.aborted);
  });
  const watch = async (): Promise<never> => {
    let before: number;
    do {
      before = ended;
      await delay(stalledMs, { signal: stop }).catch(() => stop.throwIfAborted());
    } while (ended > before);
    throw new LanefoldError('wait_timeout', `No run has ended for ${stalledMs / 1_000} seconds.`, {
      hint: 'Look at the database and the queue: one of them accepts work and does not answer.',
    });
  };
  try {
    await Promise.race([Promise.all(slots), watch()]);
    return ended;
  } finally {
    over.abort();
  }
}

async function executeRun(lanefold: Lanefold, input: string): Promise<void> {
  const { status, error } = await lanefold.runs.wait(await lanefold.runs.enqueue({ agent: agent.name, input }));
  if (status === 'completed') return;
  throw new LanefoldError('internal', `A run of the benchmark ended as ${status}: ${error?.message}`, {
    hint: 'This is a bug in lanefold.',
  });
}

export const text400 = 'The quick brown fox jumps over the lazy dog. '.repeat(9).slice(0, 400);

const usage = {
  inputTokens: { total: 100, noCache: 100, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 100, text: 100, reasoning: 0 },
};

/**
 * A model without latency: `rounds` rounds of one tool call, then an answer of 400 characters. It counts the tool
 * messages since the last user message to know its position.
 */
export const instantModel = (rounds: number): LanguageModelV4 => ({
  specificationVersion: 'v4',
  provider: 'bench',
  modelId: `rounds-${rounds}`,
  supportedUrls: {},
  doGenerate: () => Promise.reject(new Error('the benchmark only streams')),
  doStream: ({ prompt }) => {
    let done = 0;
    for (let i = prompt.length - 1; i >= 0 && prompt[i]!.role !== 'user'; i--) if (prompt[i]!.role === 'tool') done++;
    const parts: LanguageModelV4StreamPart[] =
      done < rounds
        ? [
            { type: 'tool-call', toolCallId: `call_${done}`, toolName: 'look', input: `{"q":${done}}` },
            { type: 'finish', finishReason: { unified: 'tool-calls', raw: 'tool_calls' }, usage },
          ]
        : [
            { type: 'text-start', id: '0' },
            { type: 'text-delta', id: '0', delta: text400 },
            { type: 'text-end', id: '0' },
            { type: 'finish', finishReason: { unified: 'stop', raw: 'stop' }, usage },
          ];
    return Promise.resolve({
      stream: new ReadableStream<LanguageModelV4StreamPart>({
        start(controller) {
          for (const part of parts) controller.enqueue(part);
          controller.close();
        },
      }),
    });
  },
});

const look = defineTool({
  name: 'look',
  description: 'Looks something up.',
  input: { type: 'object', properties: { q: { type: 'number' } } },
  execute: () => text400,
});

/** The measured run: one `safe` tool call, three steps, 400-character messages. */
export const agent = defineAgent({ name: 'bench', model: 'bench:1', tools: [look], maxIterations: 1_000 });
