import type { SnapshotRow } from '../../src/ops/chaos/recording/conclude.ts';
import type { Body } from './model/state.ts';
import type { Inside } from './world/invariants.ts';

/** A statement as `src/database/store` sends it. Of `attempts` and `use_limits`, the calls are a JSON array. */
export interface Statement {
  name: string;
  text: string;
  values: readonly unknown[];
  /** What is executed with it. */
  report?: Statement;
}

/** What executes the statements, each at one moment: the functions of the database, or the model of them. */
export interface Store {
  /** What it has in memory, of itself or of what it is compared with; undefined: it has nothing there, and executes all statements. */
  readonly inside?: Inside;
  /** How it differed from another one, in words; undefined: it did not, or was not compared. */
  readonly difference?: string | undefined;
  /** @param at milliseconds since 1970 @throws LanefoldError as the store of the product does */
  execute(at: number, statement: Statement): Body[] | Promise<Body[]>;
  /** The database has been started again. */
  restarted(at: number): void | Promise<void>;
  /** A thread as the views show it. */
  snapshot(threadId: string): SnapshotRow | Promise<SnapshotRow>;
  /** Its events in order: `event_seq`, run and kind of each. */
  trace(threadId: string): string[] | Promise<string[]>;
  /** How many runs have not ended. */
  unfinished(): number | Promise<number>;
}

/** A store with something in memory. */
export type Inspectable = Store & { readonly inside: Inside };
