import { redisCpuMs } from '../../runs/queue/connection.ts';
import { countSessions, readWal, type Sessions } from '../../database/store/scratch/read-server.ts';
import { delay } from '../../base/common/timer.ts';
import { readdirSync, readFileSync } from 'node:fs';
import type pg from 'pg';
import type { Scratch } from '../../database/store/scratch/scratch.ts';

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
  const [runs, connections] = await Promise.all([execute().finally(() => over.abort()), maxSessions(rig, over.signal)]);
  const to = await spentSoFar();
  const difference = (name: 'postgres' | 'redis' | 'wal') =>
    to[name] === undefined || from[name] === undefined ? undefined : to[name] - from[name];
  return {
    runs,
    connections,
    seconds: (to.at - from.at) / 1_000,
    cpuMs: (to.own.user + to.own.system - from.own.user - from.own.system) / 1_000,
    postgresCpuMs: difference('postgres'),
    redisCpuMs: difference('redis'),
    walBytes: difference('wal'),
  };
}

/** The most sessions in the scratch database at any moment until the signal is aborted. */
async function maxSessions({ observer, scratch }: Rig, signal: AbortSignal): Promise<Sessions> {
  const most = { open: 0, busy: 0 };
  while (!signal.aborted) {
    const { open, busy } = await countSessions(observer, scratch.name);
    most.open = Math.max(most.open, open);
    most.busy = Math.max(most.busy, busy);
    await delay(sampleMs, { signal }).catch(() => {});
  }
  return most;
}

/** Linux reports CPU time in hundredths of a second. */
const msPerTick = 10;

interface ProcessTimes {
  parent: number;
  /** Includes the time of its ended children. */
  cpuMs: number;
}

/**
 * CPU time used so far by a process and all its descendants, including ended ones, in milliseconds. Undefined on
 * systems without `/proc`.
 */
export function treeCpuMs(root: number): number | undefined {
  const times = new Map<number, ProcessTimes>();
  for (const name of list('/proc')) {
    const own = /^\d+$/.test(name) && readTimes(name);
    if (own) times.set(Number(name), own);
  }
  if (!times.has(root)) return undefined;
  const isInTree = (pid: number): boolean => pid === root || (times.has(pid) && isInTree(times.get(pid)!.parent));
  return [...times].reduce((sum, [pid, own]) => (isInTree(pid) ? sum + own.cpuMs : sum), 0);
}

function readTimes(pid: string): ProcessTimes | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // skips the name, which is in parentheses and may contain anything
    const fields = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
    const ticks = fields[11]! + fields[12]! + fields[13]! + fields[14]!;
    return { parent: fields[1]!, cpuMs: ticks * msPerTick };
  } catch {
    return undefined;
  }
}

const list = (folder: string): string[] => {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
};

/** What is measured, and where it is observed. */
export interface Rig {
  scratch: Scratch;
  /** Connected to another database of the server, so that its statements are not counted. */
  observer: pg.Client;
  redisUrl: string | null;
  queuePrefix: string;
  /** The main process of PostgreSQL, if it runs on this machine. */
  serverPid: number | undefined;
  onError: (message: string) => void;
}
