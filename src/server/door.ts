import type { Library } from '../features/library/library.ts';
import type { ByteBudget } from './byte-budget.ts';
import type { ApiApp } from './env.ts';
import type { LiveStreams } from './live-streams.ts';

/** What the routes of a protocol get of the server. */
export interface DoorSite {
  lanefold: Library;
  streams: LiveStreams;
  /** Of large answers that clients have not taken yet. */
  answers: ByteBudget;
}

/** A protocol that the API serves beside its own operations. */
export interface Door {
  /** Routes that are answered without a key. */
  addOpen?: (app: ApiApp) => void;
  add: (app: ApiApp, site: DoorSite) => void;
}
