import { cpus } from 'node:os';

/** Starts measuring the CPU of the machine; the returned function gives the share used since, in percent. */
export function cpuShare(): () => string {
  const read = () => {
    const times = cpus().map((cpu) => cpu.times);
    const all = times.reduce((sum, t) => sum + t.user + t.nice + t.sys + t.idle + t.irq, 0);
    return { all, idle: times.reduce((sum, t) => sum + t.idle, 0) };
  };
  const before = read();
  return () => {
    const after = read();
    return (100 - (100 * (after.idle - before.idle)) / (after.all - before.all)).toFixed(0);
  };
}
