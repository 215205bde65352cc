import { onCitus } from './services.ts';

/** What a distributed database lacks by design: where `onCitus`, tests of it are skipped. Use as `test.skipIf(citusLacks.plans)`. */
export const citusLacks = {
  /** A coordinator explains and counts none of what its nodes read. The functions that read are the same on both. */
  plans: onCitus,
  /** Nothing is batched: a transaction over nodes would be a two-phase commit. */
  batches: onCitus,
  /** With the queue in PostgreSQL, the job is not added in the transaction of the run, so no run starts directly. */
  directStarts: onCitus && process.env['LANEFOLD_TEST_QUEUE'] !== 'redis',
  /** The setting by which a test moves the clock of its session does not reach the nodes. */
  clocks: onCitus,
  /** What runs hold is on the coordinator, which reads it with the rights of the session: a tenant sees none. */
  holders: onCitus,
  /** Databases of tests are copies, in which no role may create schemas on the nodes: see test/distributed/life.test.ts. */
  migrators: onCitus,
};
