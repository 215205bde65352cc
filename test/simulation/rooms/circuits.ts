import { APICallError, type LanguageModelV4 } from '@ai-sdk/provider';
import { delay } from '../../../src/base/common/timer.ts';
import { caller } from '../processes/agents.ts';
import type { World } from '../world/world.ts';
import type { Asking, Room } from './rooms.ts';

const model = 'simulated:x';

/** The provider of the simulation that is down. */
const outages = new WeakSet<World>();

const overloaded = () =>
  new APICallError({ message: 'overloaded', url: 'simulated', requestBodyValues: {}, statusCode: 529 });

/** A model whose provider is down now and then. */
export const withOutages = (working: LanguageModelV4): LanguageModelV4 => ({
  ...working,
  async doGenerate(options) {
    const { world } = caller();
    if (!outages.has(world)) return working.doGenerate(options);
    // a call that hangs is one during which its worker may die, or its run be cancelled
    const ms = world.chances.of(`outage at ${world.clock.now}`).pick([20, 20, 3_000]);
    await delay(ms, options.abortSignal ? { signal: options.abortSignal } : {});
    throw overloaded();
  },
});

/** A provider that fails for a while, and operators who open and close the circuit of its model. */
export const circuits: Room = {
  name: 'circuits',
  calls: [
    {
      name: 'outage',
      share: 2,
      async ask({ world }, { random }) {
        outages.add(world);
        await delay(random.int(500, 20_000));
        outages.delete(world);
      },
    },
    {
      name: 'cancel held',
      share: 2,
      // also the run whose call probes, while others wait for what it says
      async ask({ library }, { random }) {
        const { data } = await library.runs.list({ status: random.pick(['queued', 'running'] as const), limit: 20 });
        if (data.length === 0) return;
        const { threadId, id } = random.pick(data);
        await library.runs.cancel({ threadId, id });
      },
    },
    {
      name: 'open circuit',
      share: 1,
      async ask({ library }, { name, random }) {
        const until = random.chance(0.5) ? {} : { until: new Date(Date.now() + random.int(1_000, 9_000)) };
        await library.circuits.open(model, { reason: name, ...until });
      },
    },
    {
      name: 'close circuit',
      share: 1,
      async ask({ library }) {
        if ((await library.circuits.list()).length > 0) await library.circuits.close(model);
      },
    },
  ],
  async calm({ world, library }: Asking) {
    outages.delete(world);
    for (const { model, openedBy, openUntil } of await library.circuits.list())
      if (openedBy !== null && openUntil === null) await library.circuits.close(model);
  },
  never: {
    'a-circuit-says-one-thing': `
      select format('the circuit of %s is %s, opened at %s, probed by %s', model, state, opened_at, probe) from lanefold._circuit
      where (state = 'closed') <> (opened_at is null) or (state = 'half_open') <> (probe is not null) or (state = 'closed' and opened_by is not null)`,
    'a-run-waits-for-a-model-that-it-names': `
      select format('run %s of %s is queued and waits for %s', r.id, r.thread_id, r.limited_by) from lanefold._run r
      where r.limited_by ? 'circuit' and not exists (select from lanefold._circuit c where c.model = r.limited_by ->> 'circuit')`,
  },
  pending: {
    'every-circuit-closes-while-a-run-waits-for-it': `
      select format('the circuit of %s is %s while %s runs wait for it', c.model, c.state, count(*)) from lanefold._circuit c
      join lanefold._run r on r.limited_by ->> 'circuit' = c.model and r.status = 'queued'
      where c.state <> 'closed' group by c.model, c.state`,
  },
};
