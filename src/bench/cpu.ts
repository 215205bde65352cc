import { readdirSync, readFileSync } from 'node:fs';

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
