import type { Overlap } from '../../../src/features/schedules/types.ts';
import type { Random } from '../../../src/ops/chaos/schedule.ts';
import type { Room } from './rooms.ts';

/** Each keeps its overlap, whatever else changes. */
const schedules: readonly { name: string; overlap: Overlap; threadId?: string }[] = [
  { name: 'skips', overlap: 'skip' },
  { name: 'queues', overlap: 'queue' },
  { name: 'interrupts', overlap: 'interrupt' },
  { name: 'talks', overlap: 'queue', threadId: 'scheduled' },
];
/** Those that have one run at a time. */
const alone = `('skips', 'queues')`;
const one = (random: Random) => random.pick(schedules);

/** Schedules that are set, changed, paused and removed while their slots come; each ends by itself. */
export const scheduling: Room = {
  name: 'schedules',
  calls: [
    {
      name: 'set schedule',
      share: 3,
      ask({ library }, { name: asked, random }) {
        const { name, ...rest } = one(random);
        const now = Date.now();
        return library.schedules.set(name, {
          ...rest,
          agent: random.pick(['agent', 'other', 'rare']),
          input: `for ${asked}: {{slot}}`,
          everyMs: random.int(1_000, 6_000),
          catchUp: random.pick(['none', 'one', 'all']),
          endAt: new Date(now + random.int(4_000, 25_000)),
          ...(random.chance(0.4) ? { jitterMs: random.int(1, 3_000) } : {}),
          ...(random.chance(0.2) ? { startAt: new Date(now + random.int(100, 4_000)) } : {}),
        });
      },
    },
    { name: 'pause schedule', share: 1, ask: ({ library }, { random }) => library.schedules.pause(one(random).name) },
    { name: 'resume schedule', share: 1, ask: ({ library }, { random }) => library.schedules.resume(one(random).name) },
    { name: 'remove schedule', share: 1, ask: ({ library }, { random }) => library.schedules.remove(one(random).name) },
  ],
  never: {
    'a-slot-has-one-run': `
      select format('%s has %s runs', request_id, count(*)) from lanefold._run where request_id like 'schedule:%' group by request_id having count(*) > 1`,
    'a-fired-slot-has-its-run': `
      select format('the slot %s of %s fired without a run', s.slot, s.name) from lanefold._schedule_slot s
      where s.status = 'fired' and not exists (select from lanefold._run r where r.thread_id = s.thread_id and r.id = s.run_id)`,
    'a-schedule-has-one-run-at-a-time': `
      select format('%s has %s runs: %s', n, count(*), string_agg(r.request_id, ', ')) from lanefold._run r, split_part(r.request_id, ':', 2) n
      where r.request_id like 'schedule:%' and r.finished_at is null and n in ${alone} group by n having count(*) > 1`,
    'a-schedule-does-not-go-back': `
      select format('the next slot of %s is %s, and %s has come', c.name, c.next_at, s.slot) from lanefold._schedule c
      join lanefold._schedule_slot s on s.tenant_id = c.tenant_id and s.name = c.name and s.slot >= c.next_at`,
    'a-paused-schedule-has-no-next-slot': `
      select format('%s is paused, and has the slot %s', name, next_at) from lanefold._schedule where paused_at is not null and next_at is not null`,
  },
  pending: {
    'every-slot-is-settled': `
      select format('the slot %s of %s is %s', s.slot, s.name, s.status) from lanefold._schedule_slot s
      join lanefold._schedule c on c.tenant_id = s.tenant_id and c.name = s.name
      where s.status in ('due', 'firing') and c.paused_at is null
      union all
      select format('the slot %s of %s', next_at, name) from lanefold._schedule where next_at is not null`,
  },
};
