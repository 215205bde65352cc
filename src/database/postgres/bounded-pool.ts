import pg from 'pg';
import { parseJson } from '../../base/common/json.ts';
import { LanefoldError } from '../../base/errors.ts';
import { QuietClient } from './watched-client.ts';
import { after, type Timer } from '../../base/common/timer.ts';

/** If no connection becomes free for this many milliseconds, waiting callers are rejected. */
const stuckMs = 2_000;

type Callback = Parameters<pg.Pool['connect']>[0];

/** `jsonb` has any number of digits: a number that a double cannot hold is read as a string with its digits. */
const exactTypes = new pg.TypeOverrides();
for (const type of [pg.types.builtins.JSON, pg.types.builtins.JSONB])
  exactTypes.setTypeParser(type, (text: string) => parseJson(text));

/**
 * A pool whose callers wait while connections keep becoming free, but not behind stuck statements: a locked thread must
 * not make every other call wait out the connection timeout.
 */
export class BoundedPool extends pg.Pool {
  #open = 0;
  #lentAt = 0;

  constructor(options: pg.PoolConfig) {
    super({ Client: QuietClient, types: exactTypes, ...options });
    this.on('connect', () => (this.#open += 1));
    this.on('remove', () => (this.#open -= 1));
    this.on('acquire', () => (this.#lentAt = performance.now()));
    // The next query replaces a broken idle connection; without a listener its error would end the process.
    this.on('error', () => {});
  }

  /** @throws LanefoldError `database_busy` */
  override connect(): Promise<pg.PoolClient>;
  override connect(callback: Callback): void;
  override connect(callback?: Callback): Promise<pg.PoolClient> | void {
    // Most statements find an idle connection; they skip the retry and the time limit, and the promises for both.
    if (callback && this.idleCount > 0) return super.connect(callback);
    const full = this.idleCount === 0 && this.totalCount >= this.options.max;
    const lent = full ? this.#wait(this.#connect()) : this.#connect();
    if (!callback) return lent;
    lent.then(
      (client) => callback(undefined, client, (error) => client.release(error as Error)),
      (error: Error) => callback(error, undefined, () => {}),
    );
  }

  /**
   * If a pooler rejects `statement_timeout`, connects without it; the pooler's settings or the role's must then limit
   * statements.
   */
  #connect(): Promise<pg.PoolClient> {
    return super.connect().catch((error: Error) => {
      if (!['startup parameter', 'statement_timeout'].every((part) => error.message.includes(part))) throw error;
      delete this.options.statement_timeout;
      return super.connect();
    });
  }

  #wait(coming: Promise<pg.PoolClient>): Promise<pg.PoolClient> {
    return new Promise((resolve, reject) => {
      const since = performance.now();
      let timer: Timer | undefined;
      let refused = false;
      const check = () => {
        const left = Math.max(this.#lentAt, since) + stuckMs - performance.now();
        if (left > 0) return void (timer = after(left, check));
        // No connection was ever opened, so the server does not answer; the pending attempt to connect will report it.
        if (this.#open === 0) return;
        refused = true;
        reject(this.#busy());
      };
      check();
      coming.then(
        (client) => {
          timer?.cancel();
          if (refused) client.release();
          else resolve(client);
        },
        (error: unknown) => {
          timer?.cancel();
          reject(this.#open > 0 ? this.#busy(error) : error);
        },
      );
    });
  }

  #busy(cause?: unknown): LanefoldError {
    const { max } = this.options;
    return new LanefoldError('database_busy', `All ${max} connections of this process are in use.`, {
      hint:
        'Nothing was written; try again. If it persists, look in pg_stat_activity for a transaction left open on a ' +
        'thread, or raise poolSize.',
      cause,
    });
  }
}
