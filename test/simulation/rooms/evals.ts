import { contextHash } from '../../../src/agent/context/canonical.ts';
import type { Message } from '../../../src/agent/context/message.ts';
import { writeCaseLine } from '../../../src/features/evals/cases/case-line.ts';
import { importCases } from '../../../src/features/evals/operations/import-cases.ts';
import type { Asked, Asking, Room } from './rooms.ts';

const dataset = 'd';

/** A case of one question. */
function line(content: string, agent: string): string {
  const messages: Message[] = [{ role: 'user', content }];
  const asked = { messages, contextHash: contextHash(messages), agent, model: 'simulated:x', kind: 'call' } as const;
  return writeCaseLine({ ...asked, expected: { contains: ['answer'] }, tags: [], split: null, note: null });
}

/** The eval that was begun last, for example. */
async function recent({ library }: Asking, { random }: Asked) {
  const { data } = await library.evals.list({ limit: 3 });
  return data.length === 0 ? undefined : random.pick(data);
}

/** Cases of past runs, and evals that ask them again. */
export const evaluating: Room = {
  name: 'evals',
  calls: [
    {
      name: 'import',
      share: 2,
      // as `cases.import`, which loads this on demand
      ask: ({ db }, { name, random }) =>
        importCases(db, { dataset, tenant: 'default', by: 'a client' }, [
          line(`asked ${name}`, random.pick(['agent', 'other'])),
        ]),
    },
    {
      name: 'keep',
      share: 4,
      async ask({ library, runs }, { random }) {
        // the latest ones have not ended
        const older = runs.slice(0, -3);
        if (older.length === 0) return;
        const { threadId, id } = random.pick(older);
        await library.cases.keep({ threadId, runId: id, dataset, expected: { contains: ['answer'] } });
      },
    },
    {
      name: 'eval',
      share: 2,
      ask: ({ library }, { random }) =>
        library.evals.run({
          dataset,
          repeats: random.int(2, 4),
          concurrency: random.int(1, 2),
          fresh: random.chance(0.7),
          tools: random.pick(['recorded', 'live']),
          variants: random.pick([[{ name: 'now' }], [{ name: 'now' }, { name: 'other', agent: 'other' }]]),
        }),
    },
    {
      name: 'cancel eval',
      share: 1,
      async ask(client, asked) {
        const found = asked.random.chance(0.4) && (await recent(client, asked));
        if (found) await client.library.evals.cancel(found.id);
      },
    },
    {
      name: 'remove eval',
      share: 1,
      async ask(client, asked) {
        const found = asked.random.chance(0.2) && (await recent(client, asked));
        if (found) await client.library.evals.remove(found.id);
      },
    },
  ],
  never: {
    'an-eval-keeps-its-concurrency': `
      select format('%s runs %s items at once, not %s', e.id, count(*), e.concurrency) from lanefold._eval e
      join lanefold._eval_item i on i.eval_id = e.id and i.status in ('running', 'scoring') group by e.id having count(*) > e.concurrency`,
    'an-item-has-a-run-of-its-own': `
      select format('%s is the run of %s items', run_id, count(*)) from lanefold._eval_item
      where not reused and run_id is not null and status <> 'erased' group by run_id having count(*) > 1`,
    'an-ended-eval-has-no-open-item': `
      select format('item %s of %s is %s', i.no, e.id, i.status) from lanefold._eval e join lanefold._eval_item i on i.eval_id = e.id
      where e.finished_at is not null and i.status in ('waiting', 'running', 'scoring')`,
  },
  pending: {
    'every-eval-ends': `
      select format('%s: %s of its items are open', e.id, (select count(*) from lanefold._eval_item i
        where i.eval_id = e.id and i.status in ('waiting', 'running', 'scoring'))) from lanefold._eval e where e.finished_at is null`,
    'what-evals-have-made-is-erased': `
      select format('the thread %s of %s', thread_id, eval_id) from lanefold._eval_thread where erase_at < lanefold._now()`,
  },
};
