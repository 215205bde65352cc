import { loadavg } from 'node:os';
import type { Servers } from '../setup.ts';
import { cpuShare } from './cpu-share.ts';
import { openLoad } from './load.ts';
import { startNodes } from './nodes.ts';

/** Few, so that the disks are busy and the CPU is not. */
const perNode = 2;
const seconds = 20;
/**
 * Simulates a disk that takes 20 ms per commit. With 0 siblings PostgreSQL delays even a commit without concurrent
 * ones.
 */
const slowDisk = ['commit_delay = 20000', 'commit_siblings = 0'];

/** Runs per second with 1, 2 and 4 nodes whose commits take 20 ms. */
export async function byNodes(servers: Servers): Promise<void> {
  console.log('\nRuns per second with commits of 20 ms, %d concurrent runs per node, %d s', perNode, seconds);
  let ofOne: number | undefined;
  for (const count of [1, 2, 4]) {
    const nodes = await startNodes(count, slowDisk);
    const load = await openLoad(servers, nodes.url, count * perNode);
    await load.measure(5, count * perNode);
    const share = cpuShare();
    const rate = await load.measure(seconds, count * perNode);
    ofOne ??= rate;
    console.log(
      `${count} nodes ${rate.toFixed(1).padStart(6)}   ${(rate / ofOne).toFixed(2)} times one node   CPU of the machine ${share()} %   load ${loadavg()[0]!.toFixed(1)}`,
    );
    await load.close();
    await nodes.stop();
  }
}
