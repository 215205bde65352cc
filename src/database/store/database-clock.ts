import type { Clock } from '../../base/common/timer.ts';
import type { Database } from '../postgres/pool.ts';

/** How old a reading may be before the next use leads to another one, in ms. */
const currentForMs = 10_000;

/**
 * The clock of the database, which alone decides when something is due. Between two readings it adds the time that has
 * passed here, so it does not matter how the clock of this process is set.
 */
export class DatabaseClock implements Clock {
  /** Its time when `performance.now()` was 0; wrong by at most half the duration of the first reading. */
  #zeroAt = NaN;
  #askedAt = -Infinity;

  private constructor(private readonly db: Database) {}

  static async open(db: Database): Promise<DatabaseClock> {
    const clock = new DatabaseClock(db);
    await clock.#read();
    return clock;
  }

  now(): number {
    // without an answer the last reading stays valid, and whatever else asks the database reports that it is gone
    if (performance.now() - this.#askedAt > currentForMs) void this.#read().catch(() => {});
    return Math.floor(this.#zeroAt + performance.now());
  }

  async #read(): Promise<void> {
    const askedAt = (this.#askedAt = performance.now());
    const [row] = await this.db.query<{ now: number }>(
      'clock',
      'select (extract(epoch from lanefold._now()) * 1000)::float8 as now',
    );
    // the database has read its clock at some moment in between
    const least = row!.now - performance.now();
    const most = row!.now - askedAt;
    if (Number.isNaN(this.#zeroAt)) this.#zeroAt = (least + most) / 2;
    else this.#zeroAt = Math.min(Math.max(this.#zeroAt, least), most);
  }
}

/** The clock of the database, which schedules go by. */
export const readNow = async (db: Database): Promise<Date> =>
  (await db.query<{ now: Date }>('now', 'select lanefold._now() as now'))[0]!.now;
