import { readFileSync } from 'node:fs';
import { afterAll } from 'vitest';

declare module 'vitest' {
  interface TaskMeta {
    /** What a file took, in ms: the time from its first line to its last, and CPU. */
    cost?: Cost;
  }
}

export interface Cost {
  wall: number;
  /** CPU of the process that runs the tests. */
  own: number;
  /** CPU of the programs that it started and waited for; Linux only. */
  programs: number;
}

function used(): Cost {
  const { user, system } = process.cpuUsage();
  return { wall: performance.now(), own: (user + system) / 1_000, programs: programs() };
}

function programs(): number {
  if (process.platform !== 'linux') return 0;
  const stat = readFileSync('/proc/self/stat', 'utf8');
  // cutime and cstime, in ticks of 10 ms, after the name in brackets, which may have spaces
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[13]) + Number(fields[14])) * 10;
}

const before = used();
// the first argument must be a pattern: Vitest reads the names of fixtures from it
afterAll(({}, { file }) => {
  const after = used();
  file.meta.cost = {
    wall: after.wall - before.wall,
    own: after.own - before.own,
    programs: after.programs - before.programs,
  };
});
