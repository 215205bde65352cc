import type { Library } from '../features/library/library.ts';
import type { Operation } from '../base/operations/operation.ts';
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

/** What a declaration says of who may do an operation. */
export type DeclaredAccess = Pick<Operation, 'scope' | 'about' | 'everywhere' | 'shows' | 'audit'>;

/** A protocol that the API serves beside its own operations. */
export interface Door {
  /** What its operations need of a key, and what the audit says of them, by their `operationId`. */
  access: Readonly<Record<string, DeclaredAccess>>;
  /** Routes that are answered without a key. */
  addOpen?: (app: ApiApp) => void;
  add: (app: ApiApp, site: DoorSite) => void;
}
