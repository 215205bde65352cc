import { createLanefold } from 'lanefold';
import type { ReaderReport } from '../processes/reader.ts';
import type { Servers } from '../setup.ts';
import { slowAgent, slowModels } from '../slow-model.ts';
import { treeCpuMs } from '../../src/ops/bench/measure-costs.ts';
import { inTurn } from '../support/in-turn.ts';
import { median, quantile } from '../support/median.ts';
import { startProcess } from '../support/process.ts';
import { readServersCpu } from '../support/servers-cpu.ts';
import { text400 } from '../workload.ts';

const streams = 1_000;
/** The runs are answered one after the other: the first when all streams are open, the last so much later. */
const [firstAnswerMs, spreadMs] = [8_000, 12_000];
const rounds = 3;

/** Measures how late events arrive at a process that reads a thousand runs, and what reading costs. */
export async function manyStreams(servers: Servers): Promise<void> {
  const databaseUrl = await servers.database();
  const options = { databaseUrl, redisUrl: null, queuePrefix: 'streams' };
  const lanefold = await createLanefold({ ...options, agents: [slowAgent], models: slowModels().models });
  const worker = await startProcess('worker', { ...options, worker: { concurrency: streams } });
  const reader = await startProcess('reader', { databaseUrl });
  const delays: number[] = [];
  const spent = { read: [] as ReturnType<typeof perRun>[], unread: [] as ReturnType<typeof perRun>[] };
  for (let round = 0; round < 2 * rounds; round++) {
    const isRead = round % 2 === 0;
    const runs = await inTurn(streams, 50, (i) =>
      lanefold.runs.enqueue({
        agent: 'slow',
        input: text400,
        model: `latency:${firstAnswerMs + Math.round((i * spreadMs) / streams)}`,
      }),
    );
    const workerBefore = treeCpuMs(worker.pid) ?? NaN;
    const served = readServersCpu(servers.pids);
    await reader.ask('open', { runs: isRead ? runs.map(({ threadId, id }) => ({ threadId, id })) : [] });
    await Promise.all(runs.map((run) => lanefold.runs.wait(run)));
    const report = await reader.ask<ReaderReport>('report');
    if (isRead) delays.push(...report.delays);
    const worked = (treeCpuMs(worker.pid) ?? NaN) - workerBefore;
    spent[isRead ? 'read' : 'unread'].push(perRun(report.cpuMs, worked, served().postgresCpuMs ?? NaN));
  }
  const at = (share: number) => quantile(delays, share).toFixed(0);
  console.log(
    `\n${streams} streams read at once by one process, ${((1_000 * streams) / spreadMs).toFixed(0)} answers a second: an event arrives after p50 ${at(0.5)} ms, p95 ${at(0.95)} ms, p99 ${at(0.99)} ms, max ${at(1)} ms (${delays.length} events of ${rounds} rounds)`,
  );
  for (const [what, each] of Object.entries(spent)) {
    const of = (read: (one: ReturnType<typeof perRun>) => number) => median(each.map(read)).toFixed(2);
    console.log(
      `  CPU in ms per run, ${what === 'read' ? 'with the streams' : 'without'}: reader ${of((one) => one.reader)}, worker ${of((one) => one.worker)}, PostgreSQL ${of((one) => one.postgres)}`,
    );
  }
  await Promise.all([worker.stop(), reader.stop()]);
  await lanefold.close();
}

const perRun = (reader: number, worker: number, postgres: number) => ({
  reader: reader / streams,
  worker: worker / streams,
  postgres: postgres / streams,
});
