import type pg from 'pg';
import type { Scratch } from '../../database/store/scratch/scratch.ts';

/** What is measured, and where it is observed. */
export interface Rig {
  scratch: Scratch;
  /** Connected to another database of the server, so that its statements are not counted. */
  observer: pg.Client;
  redisUrl: string | null;
  queuePrefix: string;
  /** The main process of PostgreSQL, if it runs on this machine. */
  serverPid: number | undefined;
  onError: (message: string) => void;
}
