import { redisCpuMs } from '../queue/redis-cpu.ts';
import { countSessions, readWal, type Sessions } from '../store/scratch/read-server.ts';
import { treeCpuMs } from './cpu.ts';
import type { Rig } from './rig.ts';
import { delay } from '../common/timer.ts';

const sampleMs = 250;

/** Measures what this process and the servers spend while `execute` executes runs. */
export async function measureCosts(rig: Rig, execute: () => Promise<number>) {
  const spentSoFar = async () => ({
    at: performance.now(),
    own: process.cpuUsage(),
    postgres: rig.serverPid === undefined ? undefined : treeCpuMs(rig.serverPid),
    redis: rig.redisUrl === null ? undefined : await redisCpuMs(rig.redisUrl),
    wal: await readWal(rig.observer),
  });
  const from = await spentSoFar();
  const over = new AbortController();
  const [runs, connections] = await Promise.all([
    execute().finally(() => over.abort()),
    mostSessions(rig, over.signal),
  ]);
  const to = await spentSoFar();
  const difference = (name: 'postgres' | 'redis' | 'wal') =>
    to[name] === undefined || from[name] === undefined ? undefined : to[name] - from[name];
  return {
    ...{ runs, connections },
    seconds: (to.at - from.at) / 1_000,
    cpuMs: (to.own.user + to.own.system - from.own.user - from.own.system) / 1_000,
    ...{ postgresCpuMs: difference('postgres'), redisCpuMs: difference('redis'), walBytes: difference('wal') },
  };
}

/** The most sessions in the scratch database at any moment until the signal is aborted. */
async function mostSessions({ observer, scratch }: Rig, signal: AbortSignal): Promise<Sessions> {
  const most = { open: 0, busy: 0 };
  while (!signal.aborted) {
    const { open, busy } = await countSessions(observer, scratch.name);
    most.open = Math.max(most.open, open);
    most.busy = Math.max(most.busy, busy);
    await delay(sampleMs, { signal }).catch(() => {});
  }
  return most;
}
