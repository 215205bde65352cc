// @module-tag long
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { RunRef, RunningWorker } from 'lanefold';
import type { Plan, PlannedCall } from '../faults/fixtures/tree-agent.ts';
import { patient, startHarness, type FaultHarness, type WorkerProcess } from '../faults/harness.ts';

import { eventsOf, expectSound } from '../support/log.ts';
import { until } from '../support/until.ts';
import { atRest, expectOneEach, expectWhole, hoursLater, leftOvers, startTree } from './trees.ts';

const leaf = (name: string, ...calls: PlannedCall[]): Plan => ({ name, rounds: calls.length > 0 ? [calls] : [] });
const ask = (plan: Plan): PlannedCall => ({ do: 'ask', plan });
type Death = [how: 'dieBefore' | 'dieAfter', statement: string];
/**
 * Tests with a worker that dies before the first of these statements, the n-th one that it sends, and after the first and the
 * last. A release also has it die before and after the others: the simulation crashes at each of them in every change.
 */
const testAround = (statements: string[]) => (title: string, work: (...death: Death) => Promise<void>) => {
  const [first, ...others] = statements.map((statement): Death => ['dieBefore', statement]);
  const after = statements.map((statement): Death => ['dieAfter', statement]);
  test.each([first!, after[0]!, after.at(-1)!])(title, work);
  test.each([...others, ...after.slice(1, -1)])(title, { tags: 'long' }, work);
};

describe('a worker that dies', () => {
  let harness: FaultHarness;
  let rescuers: RunningWorker[] = [];
  let dying: WorkerProcess[] = [];
  let unique = 0;
  beforeAll(async () => {
    harness = await startHarness({}, { trees: true });
  });
  afterEach(async () => {
    await Promise.all(rescuers.map((worker) => worker.stop()));
    await Promise.all(dying.map((worker) => worker.kill()));
    [rescuers, dying] = [[], []];
  });
  afterAll(() => harness?.close());

  const name = () => `n${(unique += 1)}`;
  const rescue = async (options = patient) => {
    const worker = await harness.startWorker(options);
    rescuers.push(worker);
    return worker;
  };
  const spawn = async (options: Parameters<FaultHarness['spawnWorker']>[0]) => {
    const worker = await harness.spawnWorker(options);
    dying.push(worker);
    return worker;
  };
  /** Starts the tree in a worker that dies at a statement, after which hours pass. */
  const crash = async (how: 'dieBefore' | 'dieAfter', statement: string, plan: Plan) => {
    const worker = await spawn({ [how]: statement });
    const root = await startTree(harness, plan);
    await died(worker, statement);
    await hoursLater(harness);
    return root;
  };
  const died = (worker: WorkerProcess, statement: string) =>
    until(`the worker dies at ${statement}`, () => worker.exited);
  const finished = async (root: RunRef, plan: Plan, payload?: (event: string) => string) => {
    await atRest(harness);
    await expectWhole(harness, root, plan, payload);
  };

  const kept = (event: string) => harness.events.send(event, `payload of ${event}`, { keepMs: 3_600_000 });
  const payload = (event: string) => `payload of ${event}`;
  const ended = (run: RunRef) => harness.runs.wait(run);
  /** The first child run; undefined if its call has started none. */
  const childOf = async (root: RunRef) => (await harness.runs.tree(root)).runs[1];
  const eventKinds = async (run: RunRef, kind: string) =>
    (await eventsOf(harness, run.threadId, run.id)).filter((event) => event.kind === kind);

  testAround([
    'record_tool_call:1',
    'enqueue_run:1',
    'end_wait_task:1',
    'suspend_run:1',
    // of the child, then of its parent
    'commit_step:2',
    'end_child:1',
    'told_parent:1',
    'claim_run:2',
    'commit_step:3',
  ])('%s %s: a run asks another one once, and gets its answer', async (how, statement) => {
    const plan: Plan = { name: name(), rounds: [[ask(leaf(name()))]] };
    const root = await crash(how, statement, plan);
    await rescue();
    await finished(root, plan);
    expect(await eventKinds(root, 'wait_started')).toHaveLength(1);
    expect(await eventKinds(root, 'wait_ended')).toHaveLength(1);
  });

  testAround(['end_child:2', 'told_parent:2', 'suspend_run:2', 'commit_step:5'])(
    '%s %s: below a child, with siblings',
    async (how, statement) => {
      const middle = (): Plan => ({ name: name(), rounds: [[ask(leaf(name())), ask(leaf(name()))]] });
      const plan: Plan = { name: name(), rounds: [[ask(middle()), { do: 'look' }, ask(middle())]] };
      const root = await crash(how, statement, plan);
      await rescue();
      await finished(root, plan);
    },
  );

  testAround(['record_tool_call:1', 'commit_step:1', 'commit_step:2', 'claim_run:2', 'commit_step:3', 'commit_step:4'])(
    '%s %s: a run is handed over once',
    async (how, statement) => {
      const plan: Plan = {
        name: name(),
        rounds: [[{ do: 'look' }, { do: 'hand', to: 'heir' }], [{ do: 'look' }]],
      };
      const root = await crash(how, statement, plan);
      await rescue();
      await finished(root, plan);
      expect(await harness.runs.get(root)).toMatchObject({ agent: 'heir', model: 'inherited' });
      expect(await eventKinds(root, 'handed_over')).toHaveLength(1);
    },
  );

  testAround(['end_child:1', 'told_parent:1', 'commit_step:4', 'claim_run:3'])(
    '%s %s: a child that was handed over answers its parent, which was handed over too',
    async (how, statement) => {
      const child = leaf(name(), { do: 'hand', to: 'heir' });
      const plan: Plan = { name: name(), rounds: [[ask(child), { do: 'hand', to: 'heir' }], [{ do: 'look' }]] };
      const root = await crash(how, statement, plan);
      await rescue();
      await finished(root, plan);
      const { runs } = await harness.runs.tree(root);
      expect(runs.map(({ agent }) => agent)).toEqual(['heir', 'heir']);
    },
  );

  test('after a handoff was accepted: a worker that does not know the next agent hands the run over', async () => {
    const event = `accepted:${name()}`;
    const plan: Plan = {
      name: name(),
      rounds: [
        [
          { do: 'hand', to: 'heir' },
          { do: 'await', event },
        ],
        [{ do: 'look' }],
      ],
    };
    const worker = await spawn({});
    const root = await startTree(harness, plan);
    await until('the run waits', async () => (await harness.runs.get(root)).status === 'suspended');
    await worker.kill();
    await spawn({ knowsOnly: 'tree' });
    await harness.events.send(event, payload(event));
    await until('the run is handed over', async () => (await harness.runs.get(root)).agent === 'heir');
    await rescue();
    await finished(root, plan, payload);
    expect((await harness.runs.get(root)).model).toBe('inherited');
  });

  testAround(['create_fork:1', 'enqueue_run:1', 'end_wait_task:1'])(
    '%s %s: a run asks a fork of itself once',
    async (how, statement) => {
      const plan: Plan = { name: name(), rounds: [[{ do: 'look' }], [{ do: 'ask', fork: true, plan: leaf(name()) }]] };
      const root = await crash(how, statement, plan);
      await rescue();
      await finished(root, plan);
    },
  );

  testAround(['record_tool_call:1', 'enqueue_run:1', 'end_wait_task:1', 'end_child:1', 'told_parent:1'])(
    '%s %s: a spawned run starts once, and its answer is collected',
    async (how, statement) => {
      const plan: Plan = {
        name: name(),
        rounds: [[{ do: 'spawn', plan: leaf(name()) }], [{ do: 'collect', round: 0, index: 0 }]],
      };
      const root = await crash(how, statement, plan);
      await rescue();
      await finished(root, plan);
    },
  );

  test('dieAfter enqueue_run:1: a run that has started answers its call, although its request would be refused by now', async () => {
    const plan: Plan = { name: name(), rounds: [[ask(leaf(name()))]] };
    const root = await crash('dieAfter', 'enqueue_run:1', plan);
    // as if the model of the child was removed
    await harness.database.pool.query(
      `update lanefold._wait set request = request || '{"model": "absent:one"}' where run_id = $1`,
      [root.id],
    );
    await rescue();
    await finished(root, plan);
  });

  test('dieBefore enqueue_run:1: more tasks than are read at a time, none of which can be done yet, do not delay it', async () => {
    const plan: Plan = { name: name(), rounds: [[ask(leaf(name()))]] };
    const root = await crash('dieBefore', 'enqueue_run:1', plan);
    // a worker may still be starting these runs
    await harness.database.pool.query(
      `insert into lanefold._wait (thread_id, run_id, round, call_index, kind, status, task, created_at, ended_at, child_thread_id,
         child_run_id, request)
       select 'gone', 'gone', n, 0, 'run', 'abandoned', 'cancel', now() - interval '1 day', now() + interval '1 day', 'gone', 'gone', '{}'
       from generate_series(1, 250) n`,
    );
    await rescue();
    expect(await ended(root)).toMatchObject({ status: 'completed' });
    await harness.database.pool.query(`delete from lanefold._wait where thread_id = 'gone'`);
    await finished(root, plan);
  });

  test('dieBefore enqueue_run:1: the answer of a run is collected that has not even started', async () => {
    const plan: Plan = {
      name: name(),
      rounds: [[{ do: 'spawn', plan: leaf(name()) }], [{ do: 'collect', round: 0, index: 0 }]],
    };
    const root = await crash('dieBefore', 'enqueue_run:1', plan);
    // as if the sweep that starts it came only after the next call
    await harness.database.pool.query(
      `update lanefold._wait set created_at = now() + interval '1 hour' where run_id = $1 and task = 'start'`,
      [root.id],
    );
    await rescue();
    const waiting = await until('the run waits or has ended', async () => {
      const found = await harness.runs.get(root);
      return (found.status === 'suspended' || found.finishedAt) && found;
    });
    expect(waiting.waits).toMatchObject([{ kind: 'run', name: 'collect' }]);
    await harness.database.pool.query(
      `update lanefold._wait set created_at = now() - interval '1 hour' where run_id = $1 and task = 'start'`,
      [root.id],
    );
    await finished(root, plan);
  });

  test('or only comes second in starting a run: the run continues', async () => {
    const event = `late:${name()}`;
    const plan: Plan = { name: name(), rounds: [[ask(leaf(name(), { do: 'await', event }))]] };
    const worker = await spawn({ stopBefore: 'end_wait_task:1' });
    const root = await startTree(harness, plan);
    await until('the worker stops', () => worker.lines.includes('stopped'));
    await harness.database.pool.query(
      `update lanefold._wait set created_at = now() - interval '1 hour' where run_id = $1 and task = 'start'`,
      [root.id],
    );
    await rescue();
    await until('the other one has started it', async () => {
      const { rows } = await harness.database.pool.query('select task from lanefold._wait where run_id = $1', [
        root.id,
      ]);
      return rows[0].task === null;
    });
    worker.process.kill('SIGCONT');
    // it suspends the parent only after it has decided about the child
    await until('the parent waits', async () => (await harness.runs.get(root)).status === 'suspended');
    await kept(event);
    await finished(root, plan, payload);
  });

  testAround(['record_tool_call:1', 'end_wait_task:1', 'end_wait:1', 'suspend_run:1', 'claim_run:2'])(
    '%s %s: an event that was kept is not lost',
    async (how, statement) => {
      const event = `kept:${name()}`;
      const plan = leaf(name(), { do: 'await', event });
      await kept(event);
      // a wait that ends before its run is suspended is not claimed again, so another one is open longer
      if (statement === 'claim_run:2') plan.rounds[0]!.push({ do: 'nap', ms: 1 });
      const root = await crash(how, statement, plan);
      await rescue();
      await finished(root, plan, payload);
    },
  );

  testAround(['record_tool_call:1', 'suspend_run:1', 'claim_run:2', 'commit_step:2', 'commit_step:3'])(
    '%s %s: an event is sent once, and reaches its call',
    async (how, statement) => {
      const event = `sent:${name()}`;
      const plan = leaf(name(), { do: 'await', event });
      const worker = await spawn({ [how]: statement });
      const root = await startTree(harness, plan);
      let rescuer: RunningWorker | undefined;
      // before the wait is stored, an event would be lost
      await until('the call waits', async () => {
        if (worker.exited && !rescuer) {
          await hoursLater(harness);
          rescuer = await rescue();
        }
        return (await harness.waits.list({ event })).data.length === 1;
      });
      expect((await harness.events.send(event, payload(event))).resolved).toHaveLength(1);
      await died(worker, statement);
      if (!rescuer) {
        await hoursLater(harness);
        await rescue();
      }
      await finished(root, plan, payload);
      expect((await harness.events.send(event, 'again')).resolved).toEqual([]);
    },
  );

  testAround(['record_tool_call:1', 'suspend_run:1', 'expire_waits:1', 'claim_run:2'])(
    '%s %s: a sleeping call wakes once',
    async (how, statement) => {
      const plan = leaf(name(), { do: 'nap', ms: 1 });
      const root = await crash(how, statement, plan);
      await rescue();
      await finished(root, plan);
      expect(await eventKinds(root, 'wait_ended')).toHaveLength(1);
    },
  );

  testAround(['expire_waits:1', 'claim_run:2'])('%s %s: a call times out once', async (how, statement) => {
    const event = `late:${name()}`;
    const root = await crash(how, statement, leaf(name(), { do: 'await', event, timeoutMs: 1 }));
    await rescue();
    await atRest(harness);
    expect(await ended(root)).toMatchObject({ status: 'completed', result: expect.stringContaining('timeout') });
    expect(await eventKinds(root, 'wait_ended')).toHaveLength(1);
    await expectSound(harness, root.threadId);
  });

  describe('while a child starts', () => {
    /** A child that would never end. */
    const endless = () => leaf(name(), { do: 'await', event: `never:${name()}` });
    const expectNoneLeft = async (root: RunRef) => {
      for (const run of (await harness.runs.tree(root)).runs.slice(1)) {
        expect(await harness.runs.get(run)).toMatchObject({ status: 'cancelled' });
        await expectSound(harness, run.threadId);
      }
      await expectOneEach(harness, root);
      await expectSound(harness, root.threadId);
      const { rows } = await harness.database.pool.query(
        'select call_index from lanefold.run_wait where run_id = $1 and child_ended_at is null',
        [root.id],
      );
      // of a budget, they would keep their shares
      expect(rows).toEqual([]);
    };

    testAround(['record_tool_call:1', 'enqueue_run:1', 'end_wait_task:1', 'suspend_run:1', 'suspend_run:2'])(
      '%s %s: the cancelled parent takes it along',
      async (how, statement) => {
        const worker = await spawn({ [how]: statement });
        const root = await startTree(harness, { name: name(), rounds: [[ask(endless())]] });
        await died(worker, statement);
        await harness.runs.cancel(root);
        await hoursLater(harness);
        await rescue();
        expect(await ended(root)).toMatchObject({ status: 'cancelled' });
        await until('no run, wait or task is left but those of a run that may still start', async () => {
          const left = (await leftOvers(harness)) as { task: string | null }[];
          return left.every(({ task }) => task === 'cancel') && left.length <= 1;
        });
        // nobody can be about to start it any more
        await hoursLater(harness);
        await atRest(harness);
        await expectNoneLeft(root);
      },
    );

    test('a worker that starts it after the end of its parent, and then dies: it is cancelled', async () => {
      const worker = await spawn({ stopBefore: 'enqueue_run:1', dieAfter: 'enqueue_run:1' });
      const root = await startTree(harness, { name: name(), rounds: [[ask(endless())]] });
      await until('the worker stops', () => worker.lines.includes('stopped'));
      await harness.runs.cancel(root);
      await rescue({ ...patient, cancelGraceMs: 50 });
      expect(await ended(root)).toMatchObject({ status: 'cancelled' });
      expect(await childOf(root)).toBeUndefined();
      worker.process.kill('SIGCONT');
      await died(worker, 'enqueue_run:1');
      await harness.quiet();
      const child = (await childOf(root))!;
      expect(await ended(child)).toMatchObject({ status: 'cancelled' });
      await atRest(harness);
      await expectNoneLeft(root);
    });

    test('a worker that starts it after the end of its parent: it cancels it itself', async () => {
      const worker = await spawn({ stopBefore: 'enqueue_run:1' });
      const root = await startTree(harness, { name: name(), rounds: [[ask(endless())]] });
      await until('the worker stops', () => worker.lines.includes('stopped'));
      await harness.runs.cancel(root);
      const rescuer = await rescue({ ...patient, cancelGraceMs: 50 });
      expect(await ended(root)).toMatchObject({ status: 'cancelled' });
      // as if the others had given up looking for it
      await harness.database.pool.query(
        `update lanefold._wait set ended_at = ended_at - interval '1 hour' where run_id = $1 and task = 'cancel'`,
        [root.id],
      );
      await until('no task is left', async () => (await leftOvers(harness)).length === 0);
      await rescuer.stop();
      worker.process.kill('SIGCONT');
      const child = await until('the child is there', () => childOf(root));
      await until('it was cancelled', async () => (await harness.runs.get(child)).finishedAt);
      await atRest(harness);
      await expectNoneLeft(root);
    });

    testAround(['enqueue_run:1', 'end_wait_task:1'])(
      '%s %s: when the time of its call is up, it is cancelled',
      async (how, statement) => {
        const worker = await spawn({ [how]: statement });
        const plan = { name: name(), rounds: [[{ do: 'ask' as const, plan: endless(), timeoutMs: 1 }]] };
        const root = await startTree(harness, plan);
        await died(worker, statement);
        await hoursLater(harness);
        // as if no worker did what waits ask for before the time is up
        await harness.database.pool.query(
          `update lanefold._wait set created_at = now() + interval '1 hour' where run_id = $1 and task = 'start'`,
          [root.id],
        );
        await rescue();
        expect(await ended(root)).toMatchObject({ status: 'completed', result: expect.stringContaining('timeout') });
        await hoursLater(harness);
        await atRest(harness);
        await expectNoneLeft(root);
      },
    );

    test.each(['dieBefore', 'dieAfter'] as const)(
      '%s enqueue_run:1: when its call is resolved by hand, it is cancelled',
      async (how) => {
        const worker = await spawn({ [how]: 'enqueue_run:1' });
        const root = await startTree(harness, { name: name(), rounds: [[ask(endless())]] });
        await died(worker, 'enqueue_run:1');
        await harness.quiet();
        expect(await harness.waits.resolve(root, '1.0', { result: 'enough' })).toMatchObject({
          resolved: true,
        });
        await hoursLater(harness);
        await rescue();
        expect(await ended(root)).toMatchObject({ status: 'completed', result: expect.stringContaining('enough') });
        await hoursLater(harness);
        await atRest(harness);
        await expectNoneLeft(root);
      },
    );
  });
});
