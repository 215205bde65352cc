import type { WorkReport } from '../../../src/runs/operations/fleet/types.ts';
import { capabilitiesOf } from '../../../src/worker/process/heartbeat.ts';
import type { SqlStore } from '../sql-store.ts';
import type { World } from '../world/world.ts';
import { due } from './due.ts';
import type { WorkCall } from './process.ts';

/** How long a call without a fault may take to end after its time is over, in ms. */
const endsWithinMs = 1_000;
/** The same after any faults: several statements in a row that are slow, in a process that was frozen. */
const endsAtAllWithinMs = 120_000;

interface Due {
  name: string;
  what: string;
}

/** What a call for work promises, looked at from inside when it begins and when it has ended. */
export class Promises {
  constructor(
    private readonly world: World,
    private readonly store: SqlStore,
  ) {}

  begun(call: WorkCall) {
    const { world } = this;
    const { name: work, maxMs, begunAt, actor } = call;
    const isCalm = world.chances.calm && !world.isDown && actor.frozenUntil < begunAt;
    let before: Due[] = [];
    let hasEnded = false;
    const { life } = actor;
    world.clock.in(maxMs + endsAtAllWithinMs, undefined, () => {
      if (!hasEnded && actor.life === life)
        world.report(
          'a-call-ends',
          `${work}, of at most ${maxMs} ms, has not ended after ${endsAtAllWithinMs} ms more`,
        );
    });
    return {
      look: async () => {
        before = await this.#due(call);
      },
      ended: (report: WorkReport | undefined) => {
        hasEnded = true;
        const tookMs = world.clock.now - begunAt;
        if (isCalm && tookMs > maxMs + endsWithinMs)
          world.report('a-call-keeps-its-bound', `${work}, of at most ${maxMs} ms, took ${tookMs} ms`);
        world.clock.in(1, undefined, async () => {
          if (isCalm) await this.#holdsNothing(call);
          if (!report?.idle) return;
          const after = new Set((await this.#due(call)).map(({ what }) => what));
          for (const { name, what } of before)
            if (after.has(what))
              world.report(
                name,
                `${what} was due before ${work}, which says that nothing is, and is still due (${call.errors.map(String).join('; ')})`,
              );
        });
      },
    };
  }

  async #holdsNothing({ name, worker }: WorkCall): Promise<void> {
    const held = await this.store.rows<{ id: string }>(
      'held',
      `select id from lanefold._run where status = 'running' and worker_id = $1`,
      [worker ?? null],
    );
    if (held.length > 0)
      this.world.report('an-ended-call-holds-nothing', `${name} has ended, and its worker holds ${held[0]!.id}`);
  }

  async #due({ deps }: WorkCall): Promise<Due[]> {
    const { agents, versions } = capabilitiesOf(deps.agents);
    return this.store.rows<Due>('due', due, [agents, versions]);
  }
}
