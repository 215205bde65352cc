import { Worker } from 'node:worker_threads';

/** Often enough for the shortest lease. */
const beatMs = 100;

/** Counts its beats in memory that it shares with the event loop, and does nothing else. */
const program = `
  const beats = new Int32Array(require('node:worker_threads').workerData);
  setInterval(() => Atomics.add(beats, 0, 1), ${beatMs});
`;

let beats: Int32Array | undefined;

/** One thread for all workers of this process, from the first question on. It does not keep the process alive. */
function start(): Int32Array {
  const memory = new SharedArrayBuffer(4);
  const resourceLimits = { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 2 };
  // without a thread, nothing is counted
  new Worker(program, { eval: true, workerData: memory, execArgv: [], env: {}, resourceLimits })
    .on('error', () => {})
    .unref();
  return new Int32Array(memory);
}

/**
 * How long this process has been running beside its event loop, in ms: the time goes on while a call does not yield, and
 * stands still while the process is stopped, or its machine is. A simulation replaces it.
 */
export const pulse = { aliveMs: (): number => Atomics.load((beats ??= start()), 0) * beatMs };
