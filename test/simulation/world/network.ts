import type { Database } from '../../../src/database/postgres/pool.ts';
import { recordStatement } from '../../../src/ops/chaos/recording/record-statements.ts';
import { Recorder } from '../../../src/ops/history/event.ts';
import type { Claim, Refusal } from '../../../src/database/store/run/claim-run.ts';
import type { Body } from '../model/state.ts';
import type { Statement } from '../store.ts';
import type { World } from './world.ts';
import type { Acting } from './acting.ts';
import { claims, frozenShare, mayRepeat, nothing, notSimulated, shares, toReport, withReport } from './statements.ts';
import { acting, hasCrashed } from './virtual-time.ts';
import { processClock } from '../../../src/base/common/timer.ts';

interface Waiting {
  item: Body;
  resolve: (row: Body) => void;
  reject: (error: unknown) => void;
}

/** A process as the database sees it: what it sends takes time, and may be lost, late, or executed twice. */
export class Actor implements Acting {
  life = 0;
  frozenUntil = 0;
  computedMs = 0;
  readonly recorder: Recorder;
  readonly db: Database;
  #sent = new Map<string, number>();
  /** Calls that will share a statement. */
  #gathered: Waiting[] = [];

  constructor(
    readonly world: World,
    readonly name: string,
    private readonly holdsRuns = false,
  ) {
    this.recorder = world.recorder(name);
    const query = (name: string, text: string, values: unknown[] = []) => {
      if (!this.#asks(name)) return never;
      const { inside } = world.store;
      if (inside && notSimulated.has(name)) return Promise.resolve(nothing(name));
      const statement = inside ? this.#asWorker({ name, text, values }) : { name, text, values };
      return this.#recorded(statement.name, [...statement.values], this.#send(statement));
    };
    const gather = (statement: string, text: string, item: string) => {
      if (!this.#asks(statement)) return never;
      const call = this.#named(JSON.parse(item));
      return this.#recorded(statement, [JSON.stringify(call)], this.#gather(statement, text, call));
    };
    const close = async () => {};
    const settings = { distributed: false, clock: processClock };
    const db = { query, queryLocking: query, queryLong: query, gather, close, settings };
    this.db = Object.assign(db, { lists: db, reader: db, forTenant: () => db }) as unknown as Database;
  }

  /** Whether it still acts. @throws if it waited for something real, such as a file: then not only the seed decides */
  #asks(statement: string): boolean {
    if (acting() !== this) throw new Error(`${this.name} sends ${statement}, but not in one of its events.`);
    return !hasCrashed();
  }

  /** What a claim draws from the machine's own randomness, the seed decides. */
  #named(item: Body): Body {
    if (!claims(item)) return item;
    const [runId, no, terms] = item['args'];
    const gap = this.world.chances.of(this.#nameOf(`gap ${runId} ${no}`)).int(1, 1_000);
    const worker = this.world.store.inside ? { worker_id: `${this.name}.${this.life}` } : {};
    return { ...item, args: [runId, no, { ...terms, ...worker, lease_gap: gap }] };
  }

  /** The same worker in reports and questions. */
  #asWorker({ name, text, values }: Statement): Statement {
    const worker = `${this.name}.${this.life}`;
    if (name === 'renew_leases_and_report') return withReport(values, worker);
    if (name === 'report_worker') return toReport(worker, values[1]);
    if (name === 'loss_cause') return { name, text, values: [values[0], values[1], worker] };
    return { name, text, values };
  }

  random(): number {
    return this.world.chances.of(this.#nameOf('random')).next();
  }

  uuid(): string {
    const { clock, chances } = this.world;
    const random = chances.of(this.#nameOf('uuid'));
    const hex = Array.from({ length: 20 }, () => random.int(0, 15).toString(16)).join('');
    return clock.now.toString(16).padStart(12, '0') + hex;
  }

  /** Everything that it waits for is lost. */
  crash(): void {
    this.life++;
    this.frozenUntil = 0;
    this.#gathered = [];
  }

  sleep(ms: number): Promise<void> {
    return this.world.clock.sleep(ms, this);
  }

  #recorded<Answer>(name: string, values: unknown[], answer: Promise<Answer>): Promise<Answer> {
    const seen = name === 'attempts' ? answer.then((row) => this.#seen(row as Body) as Answer) : answer;
    recordStatement(this.recorder, { name, values, answer: seen });
    return seen;
  }

  /** What a claim tells its worker, who may not take all of it. */
  #seen(row: Body): Body {
    const { result } = row;
    if (!result || !('claimed' in result)) return row;
    return { ...row, result: this.world.take(result as Claim | Refusal) };
  }

  #gather(name: string, text: string, item: Body): Promise<Body> {
    return new Promise((resolve, reject) => {
      const one = { item, resolve, reject };
      if (name !== 'attempts') return this.#sendTogether(name, text, [one]);
      const same = this.#gathered.some((other) => other.item['thread_id'] === item['thread_id']);
      if (same || !this.world.chances.of(this.#nameOf(`gather ${name}`)).chance(0.5))
        return this.#sendTogether(name, text, [one]);
      this.#gathered.push(one);
      if (this.#gathered.length > 1) return;
      this.world.clock.in(250, this, () => this.#sendTogether(name, text, this.#gathered.splice(0)));
    });
  }

  #sendTogether(name: string, text: string, calls: Waiting[]): void {
    const items = calls.map(({ item }) => item);
    this.#send({ name, text, values: [JSON.stringify(items)] }, items).then(
      (rows) => calls.forEach(({ resolve }, i) => resolve(rows[i]!)),
      (error: unknown) => calls.forEach(({ reject }) => reject(error)),
    );
  }

  /** A name for something this process does, which is the same whatever others do. */
  #nameOf(what: string): string {
    const count = (this.#sent.get(what) ?? 0) + 1;
    this.#sent.set(what, count);
    return `${this.name} ${what} ${count}`;
  }

  #send(statement: Statement, items: readonly Body[] = []): Promise<Body[]> {
    const { clock, chances } = this.world;
    // who asked may have crashed by the time of the answer
    const { life } = this;
    const what =
      items.length > 0 ? `${items[0]!['function'] ?? statement.name} ${items[0]!['thread_id']}` : statement.name;
    const name = this.#nameOf(what);
    const random = chances.of(name);
    const { repeated, ...others } = shares;
    const fault = chances.fault(name, {
      ...others,
      ...(mayRepeat(statement.name, items, !this.world.store.inside) ? { repeated } : {}),
      ...(this.holdsRuns ? { 'frozen while sending': frozenShare(items) } : {}),
    });
    const there = fault === 'request slow' ? random.int(300, 9_000) : random.int(1, 12);
    const back = random.int(1, 12);
    return new Promise((resolve, reject) => {
      const lose = (ms: number) => void clock.in(ms, this, () => reject(connectionReset()), life);
      let refused = false;
      const execute = (ms: number, answer: (settle: () => void) => unknown) =>
        void clock.in(ms, undefined, async () => {
          // nobody repeats what was refused
          if (refused) return;
          if (this.world.isDown) return void answer(() => reject(connectionReset()));
          try {
            const rows = await this.world.execute(this, statement);
            refused = rows.some((row) => row['error']);
            answer(() => resolve(rows));
          } catch (error) {
            refused = true;
            answer(() => reject(error));
          }
        });
      const answerTo = (settle: () => void) => clock.in(back, this, settle, life);
      const ignore = () => {};
      switch (fault) {
        case 'request lost':
          return lose(there);
        case 'answer lost':
          return execute(there, () => lose(back));
        case 'answered before it is executed':
          lose(there);
          return execute(there + random.int(1, 9_000), ignore);
        case 'frozen while sending': {
          const ms = random.int(500, 25_000);
          this.frozenUntil = Math.max(this.frozenUntil, clock.now + ms);
          return execute(ms + there, answerTo);
        }
        case 'repeated':
          execute(there, answerTo);
          return execute(there + random.int(1, 9_000), ignore);
        default:
          return execute(there, answerTo);
      }
    });
  }
}

const never = new Promise<never>(() => {});

const connectionReset = () =>
  Object.assign(new Error('Connection terminated unexpectedly'), { code: 'ECONNRESET', syscall: 'read' });
