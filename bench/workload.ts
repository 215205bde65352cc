/** The run of `lanefold bench`, which the benchmarks execute too, and its model with any number of rounds. */
import { instantModel } from '../src/ops/bench/measure-level.ts';

export * from '../src/ops/bench/measure-level.ts';

export const models = { bench: (rounds: string) => instantModel(Number(rounds)) };
