import type { Change } from './change.ts';
import type { TestName } from './runner.ts';
import { newerRooms } from './newer-rooms.ts';
import { reviewed } from './reviewed.ts';
import { strangers } from './strangers.ts';

/** A mistake, and the test that notices it. */
export interface Mutant extends Change {
  caughtBy: TestName;
}

export const mutants: Mutant[] = [...reviewed, ...newerRooms, ...strangers];
