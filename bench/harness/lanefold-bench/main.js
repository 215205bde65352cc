/** Adapter for hardbyte's benchmark of PostgreSQL job queues: one process that enqueues jobs and works them. */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { createLanefold, defineAgent, migrate } from 'lanefold';
import { Latencies } from './latencies.js';

const number = (name, byDefault) => Number(process.env[name] ?? byDefault);
const instance = number('BENCH_INSTANCE_ID', 0);
const sampleSeconds = number('SAMPLE_EVERY_S', 5);
const baseRate = number('PRODUCER_RATE', 800);
const byDepth = process.env.PRODUCER_MODE === 'depth-target';
const byTokens = !byDepth && process.env.PRODUCER_PACING === 'harness';
const targetDepth = number('TARGET_DEPTH', 1000);
const batchMax = number('PRODUCER_BATCH_MAX', 128);
const batchMs = number('PRODUCER_BATCH_MS', 25);
const workMs = number('JOB_WORK_MS', 1);
const retryMs = 200;
/** The harness gives an adapter five seconds from SIGTERM to its end. */
const stopGraceMs = 3_000;
const rollingSeconds = 30;

const databaseUrl = process.env.DATABASE_URL;
if (!databaseUrl) throw new Error('Set DATABASE_URL.');
if ((process.env.SCENARIO ?? 'long_horizon') !== 'long_horizon')
  throw new Error(`The scenario ${process.env.SCENARIO} is unknown; this adapter has long_horizon.`);

const readJson = (file) => JSON.parse(readFileSync(new URL(file, import.meta.url), 'utf8'));
const manifest = readJson('adapter.json');
const emit = (record) => console.log(JSON.stringify({ ...record, instance_id: instance }));
const log = (message, error) => console.error(`[lanefold ${instance}] ${message}`, error?.message ?? '');

const stopping = new AbortController();
for (const signal of ['SIGTERM', 'SIGINT']) process.once(signal, () => stopping.abort());
const { signal } = stopping;
const pause = (ms) => delay(ms, undefined, { signal }).catch(() => {});

const latencies = Object.fromEntries(
  ['producer', 'subscriber', 'end_to_end'].map((name) => [
    name,
    new Latencies(Math.ceil(rollingSeconds / sampleSeconds)),
  ]),
);
const total = { enqueued: 0, completed: 0 };
let depth = 0;

// A replica of any instance may take a job, so the job itself says when it was enqueued: its input, which the model
// gets, and the id of its thread, which the end of the run names, begin with the time.
const padding = 'x'.repeat(Math.max(1, number('JOB_PAYLOAD_BYTES', 256) - 50));
const newJob = () => {
  const id = `${Date.now()}-${randomUUID()}`;
  return { agent: 'job', input: `${id} ${padding}`, threadId: id, createThread: true, requestId: id };
};
const sinceEnqueued = (id) => Date.now() - Number.parseInt(id, 10);

const model = {
  specificationVersion: 'v4',
  provider: 'bench',
  modelId: 'job',
  supportedUrls: {},
  async doGenerate({ prompt }) {
    latencies.subscriber.add(sinceEnqueued(prompt.at(-1).content[0].text));
    if (workMs > 0) await delay(workMs);
    return {
      content: [{ type: 'text', text: 'done' }],
      finishReason: { unified: 'stop', raw: 'stop' },
      usage: { inputTokens: { total: 1 }, outputTokens: { total: 1 } },
      warnings: [],
    };
  },
};

await migrate(databaseUrl);
const lanefold = await createLanefold({
  databaseUrl,
  redisUrl: null,
  agents: [defineAgent({ name: 'job', model: 'bench:job', streaming: false })],
  models: { bench: model },
  // the harness connects as the superuser
  roleCheck: 'off',
});
await lanefold.startWorker({
  concurrency: number('WORKER_COUNT', 32),
  stopGraceMs,
  onError: (error) => log('worker', error),
  onRunEnd({ threadId, status }) {
    if (status !== 'completed') return log(`the job ${threadId} ended as ${status}`);
    total.completed++;
    latencies.end_to_end.add(sinceEnqueued(threadId));
  },
});

emit({
  kind: 'descriptor',
  system: manifest.system,
  event_tables: manifest.event_tables,
  extensions: manifest.extensions,
  version: `lanefold@${readJson('package.json').dependencies.lanefold}`,
  db_name: new URL(databaseUrl).pathname.slice(1),
  started_at: new Date().toISOString(),
});

/** Stores jobs, and repeats what was not acknowledged: a request that was stored after all stores nothing again. */
async function enqueue(count) {
  let jobs = Array.from({ length: count }, newJob);
  while (jobs.length > 0 && !signal.aborted) {
    const startedAt = performance.now();
    const stored = await lanefold.runs.enqueueMany(jobs);
    const refused = stored.find(({ status }) => status === 'rejected');
    const missing = jobs.filter((_, i) => stored[i].status === 'rejected');
    total.enqueued += jobs.length - missing.length;
    for (let i = missing.length; i < jobs.length; i++)
      latencies.producer.add((performance.now() - startedAt) / jobs.length);
    if (refused) log(`${missing.length} jobs are enqueued again`, refused.reason);
    jobs = missing;
    if (refused) await pause(retryMs);
  }
}

/** The rate of the current phase, which may be higher than that of the run. */
function targetRate() {
  try {
    const rate = Number(readFileSync(process.env.PRODUCER_RATE_CONTROL_FILE, 'utf8').trim());
    return rate > 0 ? rate : baseRate;
  } catch {
    return baseRate;
  }
}

/** How many jobs the harness has asked for that are not enqueued yet. */
let owed = 0;
// The harness sends tokens at the base rate, also in phases with a higher one, so a token counts for more there.
if (byTokens)
  createInterface({ input: process.stdin }).on('line', (line) => {
    const [word, count] = line.split(' ');
    if (word === 'ENQUEUE') owed += (Number(count) * targetRate()) / baseRate;
  });

async function produce() {
  let creditedAt = performance.now();
  while (!signal.aborted) {
    const now = performance.now();
    if (byDepth) owed = targetDepth - depth;
    else if (!byTokens) owed += ((now - creditedAt) / 1_000) * targetRate();
    creditedAt = now;
    const count = Math.min(batchMax, Math.floor(owed));
    if (count > 0) {
      owed -= count;
      await enqueue(count);
      if (byDepth) await readDepth();
    } else if (byDepth) {
      await pause(batchMs);
      await readDepth();
    } else {
      await pause(batchMs);
    }
  }
}

/** Keeps the last known depth while the database does not answer. */
const readDepth = async () => {
  const stats = await lanefold.stats().catch((error) => log('no queue depth', error));
  depth = stats?.runs.queued ?? depth;
};

/** Replicas see the same queue, so only the first one reports it. A producer by depth reads it before each batch anyway. */
async function observe() {
  while (!signal.aborted && instance === 0 && !byDepth) {
    await readDepth();
    await pause(1_000);
  }
}

const counted = () => ({ ...total, at: performance.now() });
let sampled = counted();
function sample() {
  const before = sampled;
  sampled = counted();
  const seconds = (sampled.at - before.at) / 1_000;
  const rate = (what) => (sampled[what] - before[what]) / seconds;
  const metrics = [
    ['enqueue_rate', rate('enqueued'), seconds],
    ['completion_rate', rate('completed'), seconds],
  ];
  for (const [name, latency] of Object.entries(latencies))
    for (const [percent, value] of latency.take())
      for (const metric of name === 'subscriber' ? ['subscriber', 'claim'] : [name])
        metrics.push([`${metric}_p${percent}_ms`, value, rollingSeconds]);
  if (instance === 0) metrics.push(['queue_depth', depth, 0], ['producer_target_rate', targetRate(), 0]);
  const t = new Date().toISOString();
  const common = { t, system: manifest.system, kind: 'adapter', subject_kind: 'adapter', subject: '' };
  for (const [metric, value, window_s] of metrics) emit({ ...common, metric, value, window_s });
}

/** At every multiple of the interval by the clock, as all adapters do; rates cover whole intervals. */
async function sampleInTime() {
  const interval = sampleSeconds * 1_000;
  const nextTick = () => pause(interval - (Date.now() % interval));
  await nextTick();
  sampled = counted();
  for (;;) {
    await nextTick();
    if (signal.aborted) return;
    sample();
  }
}

await Promise.all([produce(), observe(), sampleInTime()]);
await lanefold.close();
sample();
process.exit();
