/** How many of each were removed. */
export interface RemovedRows {
  threads: number;
  entries: number;
  events: number;
  runs: number;
  toolCalls: number;
  inputs: number;
  operations: number;
  /** Large texts. */
  contents: number;
  /** Jobs in the queue. */
  jobs: number;
}

export const addRemoved = (a: RemovedRows, b: RemovedRows): RemovedRows =>
  Object.fromEntries(Object.entries(a).map(([key, value]) => [key, value + b[key as keyof RemovedRows]])) as never;
