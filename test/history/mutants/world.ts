import { Recorder, type HistoryEvent } from '../../../src/ops/history/event.ts';
import { recordStatement } from '../../../src/ops/chaos/recording/record-statements.ts';
import { snapshotSql, toSnapshot, type SnapshotRow } from '../../../src/ops/chaos/recording/conclude.ts';
import { isLanefoldError } from '../../../src/base/errors.ts';
import type { Database } from '../../../src/database/postgres/pool.ts';
import type { Claim, Refusal } from '../../../src/database/store/run/claim-run.ts';
import { rows, type TestLog } from '../../db/helpers.ts';
import { runtime, type Runtime } from './runtime.ts';

/** A client or a worker: the database as it sees it, and what records its calls. */
export interface Actor {
  db: Database;
  recorder: Recorder;
  /** The next statement is executed, and its answer lost. */
  loseAnswer(): void;
}

/** A database, those who use it, and the history of what they did. */
export class World {
  readonly events: HistoryEvent[] = [];
  readonly reader: Recorder;
  #skippedMs = 0;

  constructor(
    readonly log: TestLog,
    readonly broken: Partial<Runtime> = {},
  ) {
    this.reader = this.#recorder('reader');
  }

  get runtime(): Runtime {
    return { ...runtime, ...this.broken };
  }

  actor(name: string): Actor {
    const recorder = this.#recorder(name);
    const { db } = this.log;
    let loses = false;
    const send = <Answer>(statement: string, values: unknown[], answer: Promise<Answer>): Promise<Answer> => {
      const seen = loses ? answer.then(() => Promise.reject(connectionReset())) : this.#seen(statement, answer);
      loses = false;
      recordStatement(recorder, { name: statement, values, answer: seen });
      return seen;
    };
    return {
      recorder,
      loseAnswer: () => void (loses = true),
      db: {
        ...db,
        query: (statement, text, values = []) => send(statement, values, db.query(statement, text, values)),
        queryLocking: (statement, text, values = []) =>
          send(statement, values, db.queryLocking(statement, text, values)),
        gather: (statement, text, item, limits) => send(statement, [item], db.gather(statement, text, item, limits)),
      },
    };
  }

  /** What a claim tells its worker, who may not take all of it. */
  async #seen<Answer>(statement: string, answer: Promise<Answer>): Promise<Answer> {
    const row = (await answer) as { result?: Claim | Refusal };
    if (statement !== 'attempts' || !row.result || !('claimed' in row.result)) return row as Answer;
    return { ...row, result: this.runtime.take(row.result) } as Answer;
  }

  #recorder(name: string): Recorder {
    const now = () => Number(process.hrtime.bigint()) + this.#skippedMs * 1e6;
    return new Recorder(name, (event) => this.events.push({ ...event, index: this.events.length }), now);
  }

  /** Lets every lease run out that is not renewed, for the database and for the clock of the history. */
  async skipLeases(): Promise<void> {
    this.#skippedMs += 2 * leaseMs;
    await rows(
      this.log.db,
      `update lanefold._run set lease_until = lease_until - $1 * interval '1 ms' where status = 'running'`,
      2 * leaseMs,
    );
  }

  /** Records what a thread is like. */
  async read(threadId: string): Promise<void> {
    const recording = this.reader.invoke('read', threadId, {});
    const [row] = await rows<SnapshotRow>(this.log.db, snapshotSql, [threadId]);
    recording.ok(toSnapshot(row!));
  }
}

export const leaseMs = 600_000;

const connectionReset = () =>
  Object.assign(new Error('Connection terminated unexpectedly'), { code: 'ECONNRESET', syscall: 'read' });

/** A call that may be refused: the history knows. */
export async function tried<Answer>(call: Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await call;
  } catch (error) {
    if (isLanefoldError(error) || (error as { code?: string }).code === 'ECONNRESET') return undefined;
    throw error;
  }
}
