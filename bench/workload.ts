/** The run that the benchmarks share with `lanefold bench`. */
export * from '../src/bench/workload.ts';
