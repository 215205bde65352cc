// @module-tag long
import type { RunHandle } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { randomOf } from '../../src/ops/chaos/schedule.ts';
import type { Plan, PlannedCall } from '../faults/fixtures/tree-agent.ts';
import { startHarness, type FaultHarness, type WorkerProcess } from '../faults/harness.ts';

import { expectSound } from '../support/log.ts';
import { until } from '../support/until.ts';
import { answerWith, startReceiver, type Receiver } from '../webhooks/receiver.ts';
import { settled } from '../webhooks/support.ts';
import { atRest, eventsIn, expectOneEach, expectWhole, hoursLater, leftOvers, plansIn, startTree } from './trees.ts';

/** Another seed is another campaign: set WAITS_SEED to repeat a failure or to look further. */
const seed = Number(process.env['WAITS_SEED'] ?? 20_261_125);
const deepest = 3;
const trees = 12;
const isCancelled = (tree: number) => tree % 4 === 3;
/** No run may fail because its workers are killed. */
const worker = { leaseMs: 1_000, sweepMs: 150, maxClaimsWithoutProgress: 1_000 };

describe('trees of runs whose workers are killed at random', () => {
  let harness: FaultHarness;
  let receiver: Receiver;
  beforeAll(async () => {
    process.env['LANEFOLD_PRIVATE_WEBHOOKS'] = 'on';
    receiver = await startReceiver();
    harness = await startHarness({}, { trees: true });
  });
  afterAll(async () => {
    delete process.env['LANEFOLD_PRIVATE_WEBHOOKS'];
    await receiver?.close();
    await harness?.close();
  });

  test('end complete: each call with one result, each child started once', { timeout: 240_000 }, async () => {
    const random = randomOf(seed, 'trees');
    let made = 0;
    const simple = (): PlannedCall =>
      random.pick<() => PlannedCall>([
        () => ({ do: 'await', event: `event:${(made += 1)}` }),
        () => ({ do: 'nap', ms: random.int(1, 300) }),
        () => ({ do: 'look' }),
      ])();
    const planAt = (depth: number): Plan => {
      const calls = Array.from({ length: random.int(1, 2) }, simple);
      const rounds = [calls];
      if (depth < deepest) {
        const children = Array.from({ length: random.int(2, 3) }, (_, i): PlannedCall => {
          const plan = planAt(depth + 1);
          // the first one has the deepest runs below it
          if (i > 0 && random.chance(0.3)) return { do: 'spawn', plan };
          return { do: 'ask', plan, ...(random.chance(0.2) ? { fork: true } : {}) };
        });
        calls.unshift(...children);
        const spawned = children.flatMap((call, index) => (call.do === 'spawn' ? [index] : []));
        if (spawned.length > 0)
          rounds.push([...spawned.map((index): PlannedCall => ({ do: 'collect', round: 0, index })), simple()]);
      }
      if (random.chance(0.4)) random.pick(rounds).push({ do: 'hand', to: 'heir' });
      return { name: `run:${(made += 1)}`, rounds };
    };
    const plans = Array.from({ length: trees }, () => planAt(1));
    const payload = (event: string) => `payload of ${event}`;

    let next = 0;
    const spawn = () => harness.spawnWorker({ name: `worker-${(next += 1)}`, worker });
    let workers: WorkerProcess[] = await Promise.all([spawn(), spawn(), spawn()]);
    // some are sent before any call waits for them, and kept; the others once a call waits
    const events = plans.filter((_, i) => !isCancelled(i)).flatMap(eventsIn);
    const early = new Set(events.filter(() => random.chance(0.4)));
    for (const event of early)
      expect(await harness.events.send(event, payload(event), { keepMs: 3_600_000 })).toMatchObject({ kept: true });
    await harness.webhooks.set('ends', {
      url: receiver.url,
      types: ['run.completed', 'run.failed', 'run.cancelled'],
    });
    let no = 0;
    // every third request is refused, answered with a redirect, or cut off
    receiver.respond = (request, response) => {
      const faults = [answerWith(500), answerWith(302), (): void => void response.destroy()];
      return ((no += 1) % 3 === 0 ? faults[(no % 9) / 3]! : answerWith(200))(request, response);
    };
    const sent = new Map<string, number>([...early].map((event) => [event, 1]));
    const sendOpen = async () => {
      for (const { event } of (await harness.waits.list({ limit: 200 })).data) {
        if (!event || sent.has(event) || !events.includes(event)) continue;
        const { resolved } = await harness.events.send(event, payload(event));
        sent.set(event, resolved.length);
      }
    };
    const results = async () => {
      await sendOpen();
      const { rows } = await harness.database.pool.query<{ n: number }>(
        "select count(*)::int as n from lanefold._tool_call where status in ('ok', 'waiting')",
      );
      return rows[0]!.n;
    };
    const hasEnded = async (run: RunHandle) => (await harness.runs.get(run)).finishedAt !== null;

    // the trees come one after the other, so that every kill meets runs at work
    const roots: RunHandle[] = [];
    for (const [i, plan] of plans.entries()) {
      const before = await results();
      const root = await startTree(harness, plan);
      roots.push(root);
      const more = random.int(1, 15);
      await until(
        'calls get on, or nothing waits for them',
        async () => (await results()) >= before + more || (await hasEnded(root)),
      );
      // a cancel just before the kill, which the victim may be about to follow
      if (isCancelled(i)) await harness.runs.cancel(root);
      const victim = random.pick(workers);
      await victim.kill();
      workers = [...workers.filter((one) => one !== victim), await spawn()];
    }
    await until('all trees have ended', async () => {
      await sendOpen();
      return (await Promise.all(roots.map(hasEnded))).every(Boolean);
    });
    await until('nothing is left but what might still start', async () => {
      const left = (await leftOvers(harness)) as { task: string | null }[];
      return left.every(({ task }) => task === 'cancel');
    });
    await hoursLater(harness);
    await atRest(harness);

    for (const [i, root] of roots.entries()) {
      if (!isCancelled(i)) {
        await expectWhole(harness, root, plans[i]!, payload);
        continue;
      }
      // what waits for events that nobody sends cannot complete
      const { runs } = await harness.runs.tree(root).catch(() => ({ runs: [] }));
      expect(runs.length).toBeLessThanOrEqual(plansIn(plans[i]!).length);
      await expectOneEach(harness, root);
      for (const run of runs) await expectSound(harness, run.threadId);
    }
    const { rows: ended } = await harness.database.pool.query<{ id: string }>('select id from lanefold.run');
    const deliveries = await settled(harness, 'ends', ended.length);
    expect(deliveries.filter(({ status }) => status !== 'delivered')).toEqual([]);
    const toldOf = new Map(
      receiver.received.map(({ headers, event }) => [headers['webhook-id'], event.data['run_id']]),
    );
    expect([...toldOf.values()].sort()).toEqual(ended.map(({ id }) => id).sort());
    for (const event of events) expect(sent.get(event), `the resolves of ${event}`).toBe(1);
    const { rows: orphans } = await harness.database.pool.query(
      `select c.thread_id from lanefold._child_run c where not exists (select from lanefold._wait w
         where w.thread_id = c.parent_thread_id and w.run_id = c.parent_run_id and w.child_run_id = c.run_id)`,
    );
    expect(orphans).toEqual([]);
  });
});
