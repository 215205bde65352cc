/** Tests for strategies of your own: `lanefold/testing`. */
export { simulate, type SimulatedCall, type SimulatedRun, type Simulation } from './simulate.ts';
export { crashEverywhere } from './crash-everywhere.ts';
export type { MemoryStore } from './memory-store.ts';
