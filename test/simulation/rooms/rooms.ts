import type { Random } from '../../../src/ops/chaos/schedule.ts';
import type { Library } from '../../../src/features/library/library.ts';
import type { Database } from '../../../src/database/postgres/pool.ts';
import type { RunHandle } from '../../../src/database/store/run/run.ts';
import type { Chances } from '../world/chances.ts';
import type { World } from '../world/world.ts';
import { circuits } from './circuits.ts';
import { branching } from './branches.ts';
import { evaluating } from './evals.ts';
import { handoffs } from './handoffs.ts';
import { limiting } from './limits.ts';
import { runs } from './runs.ts';
import { scheduling } from './schedules.ts';
import { versions } from './versions.ts';
import { waits } from './waits.ts';
import { webhooks } from './webhooks.ts';

/** A client that asks. */
export interface Asking {
  readonly world: World;
  readonly library: Omit<Library, 'work'>;
  readonly db: Database;
  /** The runs that it was told of. */
  readonly runs: RunHandle[];
  twice<T>(random: Random, send: () => Promise<T>): Promise<T>;
}

/** One call of a client. */
export interface Asked {
  /** The same for no other call. */
  name: string;
  thread: string;
  random: Random;
}

/** A part of the product: what clients ask of it, and what holds in it. */
export interface Room {
  name: string;
  /** What clients ask, by how often they do. */
  calls: { name: string; share: number; ask(client: Asking, asked: Asked): Promise<unknown> }[];
  /** What a client does once the faults are over, so that everything can end. */
  calm?(client: Asking): Promise<void>;
  /**
   * What never happens, by the name of the check: a query of what has happened, `what`, after any statement.
   */
  never: Record<string, string>;
  /** What there is to do besides runs, until it is done. */
  pending?: Record<string, string>;
}

export const rooms: readonly Room[] = [
  runs,
  versions,
  waits,
  handoffs,
  scheduling,
  webhooks,
  evaluating,
  limiting,
  circuits,
  branching,
];

/** How much a room is used in a simulation. */
export const shareOf = (chances: Chances, room: string): number =>
  room === 'runs' ? 1 : chances.of(`how often ${room}`).pick([0, 1, 1, 3]);

/** What clients ask for in a simulation. Seeds differ in which rooms are used much, and not all are used at once. */
export function callsOf(chances: Chances): Room['calls'] {
  return rooms.flatMap(({ name, calls }) => {
    const weight = shareOf(chances, name);
    return calls.flatMap((call) => Array.from({ length: call.share * weight }, () => call));
  });
}
