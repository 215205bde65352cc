import type { Random } from '../../../src/ops/chaos/schedule.ts';
import type { LimitDefinition } from '../../../src/agent/limits/types.ts';
import type { Asking, Room } from './rooms.ts';

/** Each keeps its kind, its scope and its interval; amounts change, and are so small that all of them refuse. */
const limits: readonly (LimitDefinition & { name: string; least: number })[] = [
  { name: 'slots', kind: 'concurrency', least: 1, amount: 4 },
  { name: 'starts', kind: 'runs', least: 2, amount: 6, per: 8_000 },
  { name: 'calls', kind: 'requests', least: 1, amount: 6, per: 5_000 },
  { name: 'more-calls', kind: 'requests', least: 1, amount: 6, per: 7_000, scope: { agent: '*' } },
  { name: 'tokens', kind: 'tokens', least: 900, amount: 4_000, per: 6_000 },
];
const one = (random: Random) => random.pick(limits);
/** SQL: of what a bucket counts exactly, the most that its limit ever was while clients changed it. */
const most = `case name ${limits
  .filter(({ kind }) => kind !== 'tokens')
  .map(({ name, amount }) => `when '${name}' then ${amount}`)
  .join(' ')} end`;

/** Several limits on the same runs, of which more wait than may continue; see `calm` for how they get through. */
export const limiting: Room = {
  name: 'limits',
  calls: [
    {
      name: 'set limit',
      share: 3,
      ask({ library }, { random }) {
        const { name, least, ...definition } = one(random);
        return library.limits.set(name, { ...definition, amount: random.int(least, definition.amount) });
      },
    },
    {
      name: 'remove limit',
      share: 1,
      async ask({ library }, { random }) {
        if (random.chance(0.3)) await library.limits.remove(one(random).name);
      },
    },
    {
      name: 'burst',
      share: 2,
      async ask({ library }, { name, random }) {
        const requests = Array.from({ length: random.int(5, 20) }, (_, n) => ({
          agent: random.pick(['agent', 'other', 'other', 'rare']),
          input: `go ${name}.${n}`,
          threadId: `${name}.${n}`,
          createThread: true,
          requestId: `request-${name}.${n}`,
          ...(random.chance(0.2) ? { priority: random.int(1, 3) } : {}),
        }));
        // alone, each asks for its slot when it is accepted
        if (random.chance(0.5)) return library.runs.enqueueMany(requests);
        for (const request of requests) await library.runs.enqueue(request);
      },
    },
    {
      name: 'rush',
      share: 1,
      // more runs wait for two limits than one look finds
      async ask({ library }, { name, random }) {
        if (random.chance(0.7)) return;
        for (const { least, ...narrow } of limits)
          if (narrow.kind === 'requests') await library.limits.set(narrow.name, { ...narrow, amount: least });
        const requests = Array.from({ length: 60 }, (_, n) => ({
          agent: 'other',
          input: `go ${name}.${n}`,
          threadId: `${name}.${n}`,
          createThread: true,
          requestId: `request-${name}.${n}`,
        }));
        return library.runs.enqueueMany(requests);
      },
    },
  ],
  /** Slots return by themselves; what counts in an interval is allowed from now on. */
  async calm({ library }: Asking) {
    for (const { name, amount } of await library.limits.list()) {
      const { least: _, name: __, ...definition } = limits.find((limit) => limit.name === name)!;
      if (definition.kind !== 'concurrency' && amount < 1_000_000)
        await library.limits.set(name, { ...definition, amount: 1_000_000 });
    }
  },
  never: {
    'what-is-reserved-is-held': `
      select format('%s has %s reserved, and runs hold %s of it', b.name, b.reserved, h.n) from lanefold._limit_bucket b,
        lateral (select coalesce(sum((a.holds -> lanefold._limit_place(b.owner, b.name, b.key) ->> 0)::bigint), 0) n from lanefold._limit_account a) h
      where b.reserved <> h.n`,
    'no-limit-counts-below-zero': `
      select format('%s of %s has %s used, %s reserved, %s in total', name, key, used, reserved, total) from lanefold._limit_bucket
      where used < 0 or reserved < 0 or total < 0`,
    'no-limit-is-exceeded': `
      select format('%s of %s has %s used, which was never allowed', b.name, b.key, b.used) from lanefold._limit_bucket b
      join lanefold._limit l on l.owner = b.owner and l.name = b.name and l.amount < 1000
      where b.used > (select ${most} from (select b.name) n (name))`,
  },
  pending: {
    'every-account-is-settled': `
      select format('the account of %s of %s has %s', a.run_id, a.thread_id, a.holds) from lanefold._limit_account a
      where exists (select from jsonb_each(a.holds) h where (h.value ->> 0)::bigint <> 0)`,
  },
};
