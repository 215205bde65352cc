import type { SqlStore } from '../sql-store.ts';
import { Progress } from '../world/progress.ts';
import type { World } from '../world/world.ts';
import { rooms } from './rooms.ts';
import { wanted } from './versions.ts';

/** A statement that changes little is not worth a look at everything. */
const every = 20;

const together = (checks: readonly Record<string, string>[]): string =>
  checks
    .flatMap((own) => Object.entries(own))
    .map(([name, query]) => `select '${name}' as name, x.what from (${query}) as x (what)`)
    .join(' union all ');

const never = together(rooms.map((room) => room.never));
const pending = together(rooms.map((room) => room.pending ?? {}));

interface Left {
  name: string;
  what: string;
}

/** Looks from inside at what holds in all rooms. */
export class Checks {
  #statements = 0;

  constructor(
    private readonly world: World,
    private readonly store: SqlStore,
  ) {}

  /** After a statement. */
  async check(): Promise<void> {
    if (++this.#statements % every === 0) await this.#look('never', never);
  }

  /** Every run that a live worker can execute ends, one after the other. */
  executable = (): Promise<void> => this.#progress(() => this.#left('executable', unfinished(true)));

  /** Every run ends, and what else there is to do is done. */
  all = (): Promise<void> =>
    this.#progress(async () => [
      ...(await this.#left('unfinished', unfinished(false))),
      ...(await this.#left('pending', pending)),
    ]);

  #left = (name: string, text: string): Promise<Left[]> => this.store.rows<Left>(name, text);

  async #progress(look: () => Promise<Left[]>): Promise<void> {
    const { world } = this;
    const progress = new Progress(world.clock.now);
    while (world.found.length === 0) {
      await this.#look('never', never);
      const left = await look();
      if (left.length === 0) return;
      if (progress.hasStopped(world.clock.now, left.length)) {
        const [{ name }] = left as [Left];
        const some = left.slice(0, 5).map(({ what }) => what);
        world.report(name, `${left.length} do not continue, such as ${some.join('; ')}`);
      }
      await world.happen(50);
    }
  }

  async #look(name: string, text: string): Promise<void> {
    const seen = new Set(this.world.found.map(({ check }) => check));
    for (const row of await this.store.rows<Left>(name, text)) {
      if (seen.has(row.name)) continue;
      seen.add(row.name);
      this.world.report(row.name, row.what);
    }
  }
}

const alive = (agent: string, version: string): string =>
  `exists (select from lanefold.worker k where k.alive and not k.draining and ${agent} = any (k.agents)
    and (${version} is null or ${agent} || '@' || ${version} = any (k.versions)))`;

/**
 * Runs that have not ended, and that a live worker can execute if that is asked for: unless they wait in line behind one that
 * none can execute, or for its answer.
 */
const unfinished = (executable: boolean): string => `
  with recursive run as (select * from lanefold._run r where r.finished_at is null),
  stuck as (
    select r.thread_id, r.id, r.active from run r where ${executable} and (not ${alive('r.agent', `(${wanted('r')})`)}
      or exists (select from lanefold._wait w where w.thread_id = r.thread_id and w.run_id = r.id and w.task = 'start'
        and w.status = 'open' and not ${alive("(w.request ->> 'agent')", 'null::text')}))
    union
    select r.thread_id, r.id, r.active from stuck s join run r on s.active and s.thread_id = r.thread_id
      or exists (select from lanefold._wait w where w.thread_id = r.thread_id and w.run_id = r.id and w.status = 'open'
        and w.child_thread_id = s.thread_id and w.child_run_id = s.id)
  )
  select 'every-run-ends' as name, format('%s of %s (%s, %s, step %s, enqueue_no %s, waits for %s, suspended until %s)', r.id, r.thread_id,
    r.agent, r.status, r.step, r.enqueue_no, r.limited_by, r.suspended_until) as what
  from run r where (r.thread_id, r.id) not in (select thread_id, id from stuck)
  order by r.active desc, r.created_at, r.id`;
