/** Tests for strategies of your own: `lanefold/testing`. */
export { simulate, type SimulatedCall, type SimulatedRun, type Simulation } from './testing/simulate.ts';
export { crashEverywhere } from './testing/crash-everywhere.ts';
export type { MemoryStore } from './testing/memory-store.ts';
