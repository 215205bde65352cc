import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import type { Load } from '../processes/measured.ts';
import type { Servers } from '../setup.ts';
import type { OwnServer } from '../systems/system.ts';
import { orLate } from '../../src/base/common/timer.ts';
import { startProcess, type BenchProcess } from './process.ts';

const firstRunMs = 60_000;

export interface Contestant {
  name: string;
  /** The built module of the system; see `bench/systems/system.ts`. */
  file: string;
  usesRedis: boolean;
  /** Called once with its empty database. */
  prepare?: (databaseUrl: string) => Promise<void>;
  /** Further options of the system. */
  options?: object;
  /** What to measure; default: one run per call, at each concurrency of the plan. */
  loads?: readonly Load[];
  /** Starts the system's own server, which keeps its data in the folder. */
  startServer?: (folder: string) => Promise<OwnServer>;
}

/** A contestant with the data it keeps from one process to the next. */
export interface Entered extends Contestant {
  databaseUrl: string;
  folder: string;
  /** Size of the data after the first run. */
  initialBytes: number;
}

/** Gives a contestant its data: lets it create its tables and execute one run. Rejects if it cannot run here. */
export async function enter(servers: Servers, contestant: Contestant): Promise<Entered> {
  const databaseUrl = await servers.emptyDatabase();
  await contestant.prepare?.(databaseUrl);
  const entered = { ...contestant, databaseUrl, folder: await servers.emptyFolder(), initialBytes: 0 };
  const { measured, stop, kill } = await start(servers, entered, 1);
  try {
    const oneRun = measured.ask('measure', { seconds: 0, concurrency: 1 });
    await orLate(firstRunMs, oneRun, () => {
      throw new Error(`no run ended within ${firstRunMs / 1_000} s`);
    });
  } catch (error) {
    await kill();
    throw error;
  }
  await stop();
  return { ...entered, initialBytes: await storedBytes(servers, entered) };
}

export async function enterAll(servers: Servers, contestants: Contestant[]): Promise<Entered[]> {
  const entered: Entered[] = [];
  for (const contestant of contestants) entered.push(await enter(servers, contestant));
  return entered;
}

/** A process of a system, with the system's own server. */
export interface Started {
  measured: BenchProcess;
  serverPid: number | undefined;
  stop(): Promise<void>;
  /** For a process that may hang. */
  kill(): Promise<void>;
}

export async function start(
  servers: Servers,
  { file, usesRedis, startServer, databaseUrl, folder, options: own }: Entered,
  concurrency: number,
): Promise<Started> {
  const server = await startServer?.(folder);
  const redisUrl = usesRedis ? servers.redisUrl : null;
  try {
    const options = { ...own, file, databaseUrl, redisUrl, concurrency, server: server?.addresses };
    const measured = await startProcess('measured', options);
    const end = (endProcess: () => Promise<void>) => async () => {
      await endProcess();
      await server?.stop();
    };
    return { measured, serverPid: server?.pid, stop: end(measured.stop), kill: end(measured.kill) };
  } catch (error) {
    await server?.stop();
    throw error;
  }
}

/**
 * The size of a system's data in bytes: the folder of its own server, if it has one, else its database. No process of
 * the system may be running, because a running server reserves space.
 */
export const storedBytes = (servers: Servers, { startServer, folder, databaseUrl }: Entered): Promise<number> =>
  startServer ? sizeOfFolder(folder) : servers.sizeOf(databaseUrl);

async function sizeOfFolder(folder: string): Promise<number> {
  const names = await readdir(folder, { recursive: true });
  const sizes = await Promise.all(names.map(async (name) => (await stat(path.join(folder, name))).blocks * 512));
  return sizes.reduce((sum, size) => sum + size, 0);
}
