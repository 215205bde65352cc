import type { WorkerState } from '../processes/worker.ts';

const shown = 5;

/** Prints the most frequent errors that worker processes reported. */
export function printErrors(states: WorkerState[]): void {
  const counts = new Map<string, number>();
  for (const { errors } of states) {
    for (const [message, count] of Object.entries(errors)) counts.set(message, (counts.get(message) ?? 0) + count);
  }
  const most = [...counts].sort(([, a], [, b]) => b - a).slice(0, shown);
  for (const [message, count] of most) console.log(`  workers reported ${count} times: ${message}`);
}
