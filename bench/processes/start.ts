/** A process that starts as those of users do, and says how long that took. */
import { createLanefold, defineAgent, type RunRef } from 'lanefold';
import { givenOptions, serve } from '../support/serve.ts';

export interface Started {
  /** From the start of the process until `createLanefold` has returned, in ms. */
  connectedMs: number;
  /** Until the database has the claim of its first run. */
  claimedMs: number;
  /** Until `work` has returned, which the process was started for. */
  endedMs: number;
  cpuMs: number;
  residentMiB: number;
}

export interface AtRest {
  residentMiB: number;
  /** Of CPU, per second. */
  cpuMsPerSecond: number;
}

const { databaseUrl, redisUrl } = givenOptions<{ databaseUrl: string; redisUrl: string | null }>();
const agents = [defineAgent({ name: 'echo', model: 'scripted:echo' })];
const lanefold = await createLanefold({ databaseUrl, redisUrl, agents, queuePrefix: 'start' });
const connectedMs = performance.now();

const residentMiB = () => process.memoryUsage().rss / 2 ** 20;
const cpuMs = ({ user, system } = process.cpuUsage()) => (user + system) / 1_000;

serve({
  async work({ run }: { run: RunRef }): Promise<Started> {
    await lanefold.work();
    const endedMs = performance.now();
    const { startedAt } = await lanefold.runs.get(run);
    const claimedMs = startedAt!.getTime() - performance.timeOrigin;
    return { connectedMs, claimedMs, endedMs, cpuMs: cpuMs(), residentMiB: residentMiB() };
  },
  async rest({ worker, ms }: { worker: boolean; ms: number }): Promise<AtRest> {
    if (worker) await lanefold.startWorker();
    const pause = () => new Promise((resolve) => setTimeout(resolve, ms));
    await pause();
    const before = process.cpuUsage();
    await pause();
    const spent = cpuMs(process.cpuUsage(before));
    return { residentMiB: residentMiB(), cpuMsPerSecond: (spent / ms) * 1_000 };
  },
  stop: () => lanefold.close(),
});
