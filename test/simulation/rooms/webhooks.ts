import type { Random } from '../../../src/ops/chaos/schedule.ts';
import type { Room } from './rooms.ts';

/** Each keeps what it wants, whatever else changes. */
const endpoints = [
  { name: 'all', url: 'http://10.0.0.1/all', ordered: true },
  { name: 'ends', url: 'http://10.0.0.2/ends', types: ['run.completed', 'run.failed', 'run.cancelled'] },
  { name: 'rare', url: 'http://10.0.0.3/rare', agents: ['rare'], includeResult: true },
] as const;
const one = (random: Random) => random.pick(endpoints);

/** Endpoints that are told what happened: see `receivers` for what they answer. */
export const webhooks: Room = {
  name: 'webhooks',
  calls: [
    {
      name: 'set webhook',
      share: 2,
      ask({ library }, { random }) {
        const { name, ...definition } = one(random);
        const { types = [], agents = [], ...rest } = { types: [], agents: [], ...definition };
        return library.webhooks.set(name, { ...rest, types: [...types], agents: [...agents] });
      },
    },
    { name: 'pause webhook', share: 1, ask: ({ library }, { random }) => library.webhooks.pause(one(random).name) },
    { name: 'resume webhook', share: 2, ask: ({ library }, { random }) => library.webhooks.resume(one(random).name) },
    {
      name: 'remove webhook',
      share: 1,
      async ask({ library }, { random }) {
        if (random.chance(0.3)) await library.webhooks.remove(one(random).name);
      },
    },
    { name: 'test webhook', share: 1, ask: ({ library }, { random }) => library.webhooks.test(one(random).name) },
    {
      name: 'redeliver',
      share: 1,
      ask: ({ library }, { random }) =>
        library.webhooks.redeliver('ends', { since: new Date(Date.now() - random.int(1_000, 20_000)) }),
    },
  ],
  never: {
    'every-end-is-told': `
      select format('the end of %s of %s has no delivery to %s', r.id, r.thread_id, w.name) from lanefold._webhook w
      join lanefold._run r on r.finished_at > w.created_at and r.tenant_id = w.tenant_id
      where w.name in ('all', 'ends') and w.removed_at is null and not exists (
        select from lanefold._webhook_delivery d where d.thread_id = r.thread_id and d.webhook_id = w.id and d.type = 'run.' || r.status
          and d.payload #>> '{data,run_id}' = r.id) and not exists (
        select from lanefold._webhook_event v where v.thread_id = r.thread_id and w.id = any (v.webhook_ids) and v.type = 'run.' || r.status
          and v.payload #>> '{data,run_id}' = r.id)`,
    'in-order': `
      select format('%s of %s is sent before %s', d.id, d.thread_id, e.id) from lanefold._webhook w
      join lanefold._webhook_delivery d on d.webhook_id = w.id and d.status = 'pending' and d.attempts > 0
      join lanefold._webhook_delivery e on e.webhook_id = w.id and e.thread_id = d.thread_id and e.no < d.no and e.status = 'pending'
      where w.ordered`,
    'a-settled-delivery-is-over': `
      select format('%s is %s, and in flight', id, status) from lanefold._webhook_delivery where status <> 'pending' and (in_flight or next_at is not null)`,
  },
  pending: {
    'every-event-is-taken': `select format('%s of %s', type, thread_id) from lanefold._webhook_event`,
    // the next attempt of one that has failed may be hours away, and later ones may wait for it
    'every-delivery-is-settled': `
      select format('%s of %s to %s', d.id, d.thread_id, w.name) from lanefold._webhook_delivery d join lanefold._webhook w on w.id = d.webhook_id
      where d.status = 'pending' and w.paused_at is null and w.removed_at is null and not exists (
        select from lanefold._webhook_delivery e where e.thread_id = d.thread_id and e.webhook_id = d.webhook_id and e.no <= d.no
          and e.status = 'pending' and e.next_at > lanefold._now() + interval '40 s')`,
  },
};
