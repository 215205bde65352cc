import type { ReadyAgent } from '../../../src/agent/definition/registry.ts';
import { defineTool } from 'lanefold';
import { applyOperation } from '../../../src/database/store/context/apply-operation.ts';
import { forkThread } from '../../../src/database/store/fork/fork-thread.ts';
import { enqueueInput } from '../../../src/database/store/input/enqueue-input.ts';
import { useLimits, type LimitCall } from '../../../src/database/store/limit/use-limits.ts';
import { cancelRun } from '../../../src/database/store/run/cancel-run.ts';
import { finishRun } from '../../../src/database/store/run/finish-run.ts';
import { decideToolCall } from '../../../src/database/store/wait/decide-tool-call.ts';
import { suspendRun } from '../../../src/database/store/wait/suspend-run.ts';
import { rows } from '../../db/helpers.ts';
import {
  append,
  answers,
  calls,
  claim,
  commit,
  enqueue,
  inTools,
  record,
  renew,
  say,
  says,
  type Held,
} from './steps.ts';
import { tried, type Actor, type World } from './world.ts';

interface Actors {
  ann: Actor;
  bob: Actor;
  w1: Actor;
  w2: Actor;
}

type Scenario = (world: World, actors: Actors) => Promise<void>;

const thread = (world: World, id: string) => world.log.threads.create({ id });

/** Two clients append to one thread; the answer to the first append is lost, and a client expects too few entries. */
const appends: Scenario = async (world, { ann, bob }) => {
  await thread(world, 'appends');
  ann.loseAnswer();
  await append(ann, 'appends', ['a1'], { key: 'first' });
  await append(bob, 'appends', ['b1', 'b2']);
  await world.read('appends');
  await append(ann, 'appends', ['a2'], { expectedRev: 1 });
  await Promise.all([append(ann, 'appends', ['a3']), append(bob, 'appends', ['b3']), world.read('appends')]);
  await world.read('appends');
};

/** A worker's lease runs out, another one takes the run, and the first continues writing. */
const zombie: Scenario = async (world, { ann, w1, w2 }) => {
  await enqueue(ann, 'zombie', 'zombie');
  const lost = await claim(w1, 'w1', 'zombie', 'zombie');
  await commit(w1, lost, calls('look'), inTools);
  await world.skipLeases();
  const held = await claim(w2, 'w2', 'zombie', 'zombie');
  await record(w1, lost, 'started');
  await commit(w1, { ...lost }, says('late'));
  await renew(w1, lost);
  await tried(finishRun(w1.db, lost, { status: 'failed', reason: 'error', error: { type: 'x', message: 'late' } }));
  await commit(w2, held, answers('done'));
  await world.read('zombie');
};

/** The same for two runs whose steps share a statement. */
const zombies: Scenario = async (world, { ann, w1, w2 }) => {
  const runs = ['left', 'right'];
  for (const id of runs) await enqueue(ann, id, id);
  const lost = await Promise.all(runs.map((id) => claim(w1, 'w1', id, id)));
  await world.skipLeases();
  await Promise.all(runs.map((id) => claim(w2, 'w2', id, id)));
  await Promise.all(lost.map((run) => commit(w1, run, says('late'))));
  for (const id of runs) await world.read(id);
};

/** Each way in which a worker extends its lease, after which no other may have the run. */
const leases: Scenario = async (world, { ann, w1, w2 }) => {
  const ways: Record<string, (run: Held) => Promise<unknown>> = {
    claiming: async () => {},
    renewing: (run) => renew(w1, run),
    committing: (run) => commit(w1, run, calls('look'), inTools),
    recording: (run) => record(w1, run, 'started'),
  };
  for (const [id, extend] of Object.entries(ways)) {
    await enqueue(ann, id, id);
    const run = await claim(w1, 'w1', id, id);
    if (id === 'recording') await commit(w1, run, calls('look'), inTools);
    if (id !== 'claiming') await world.skipLeases();
    await extend(run);
    await claim(w2, 'w2', id, id);
    await world.read(id);
  }
};

/** The answer to a step is lost, and the worker sends the step again. */
const lostAnswer: Scenario = async (world, { ann, w1 }) => {
  await enqueue(ann, 'lost', 'lost');
  const run = await claim(w1, 'w1', 'lost', 'lost');
  w1.loseAnswer();
  await commit(w1, run, says('half'));
  await commit(w1, run, says('half'));
  await commit(w1, run, answers('whole'));
  await world.read('lost');
};

/** Two clients send the same request under different run ids. */
const request: Scenario = async (world, { ann, bob }) => {
  await enqueue(ann, 'request', 'one', { request_id: 'asked' });
  await enqueue(bob, 'request', 'two', { request_id: 'asked' });
  await world.read('request');
};

/** Three runs of one thread: the second and third wait. */
const queue: Scenario = async (world, { ann, bob, w1, w2 }) => {
  await enqueue(ann, 'queue', 'first');
  await enqueue(ann, 'queue', 'second');
  await enqueue(bob, 'queue', 'third');
  const first = await claim(w1, 'w1', 'queue', 'first');
  await claim(w2, 'w2', 'queue', 'second');
  w1.loseAnswer();
  await commit(w1, first, answers('one'));
  await commit(w1, first, answers('one'));
  const second = await claim(w2, 'w2', 'queue', 'second');
  const third = await claim(w1, 'w1', 'queue', 'third');
  await commit(w2, second, answers('two'));
  if (third.lease === 0) await claim(w1, 'w1', 'queue', 'third');
  await world.read('queue');
};

/** A run is cancelled while its worker is about to answer; another one after it was answered. */
const cancels: Scenario = async (world, { ann, w1 }) => {
  await enqueue(ann, 'cancel', 'early');
  const early = await claim(w1, 'w1', 'cancel', 'early');
  await tried(cancelRun(ann.db, 'cancel', 'early', 'changed my mind'));
  await commit(w1, early, answers('unwanted'));
  await world.read('cancel');
  await enqueue(ann, 'cancel', 'late');
  const late = await claim(w1, 'w1', 'cancel', 'late');
  await commit(w1, late, answers('wanted'));
  await tried(cancelRun(ann.db, 'cancel', 'late', 'too late'));
  await world.read('cancel');
};

/** Input is sent while a run works, once with a lost answer, and once more when the run takes none. */
const inputs: Scenario = async (world, { ann, bob, w1 }) => {
  const steer = ({ db }: Actor, id: string) =>
    tried(enqueueInput(db, 'inputs', { id, kind: 'steer', content: `and ${id}`, by: 'test' }));
  await enqueue(ann, 'inputs', 'steered');
  const run = await claim(w1, 'w1', 'inputs', 'steered');
  ann.loseAnswer();
  await steer(ann, 'one');
  await commit(w1, run, { ...says('so far'), drain: true });
  await steer(bob, 'two');
  await commit(w1, run, { ...says('further'), drain: true });
  await commit(w1, run, { ...says('nearly'), seal: true });
  await steer(bob, 'three');
  await commit(w1, run, answers('done'));
  await world.read('inputs');
};

/** An operation is sent twice, and another one waits for the end of the first of two runs. */
const operations: Scenario = async (world, { ann, bob, w1 }) => {
  await thread(world, 'operations');
  const replace = ({ db }: Actor, opId: string) =>
    tried(
      applyOperation(db, 'operations', {
        opId,
        contextRef: 'default',
        hash: opId,
        operation: { type: 'replace', result_context: { entries: [{ role: 'user', content: `remember ${opId}` }] } },
      }),
    );
  await replace(ann, 'now');
  await replace(bob, 'now');
  for (const runId of ['one', 'two']) {
    await enqueue(ann, 'operations', runId);
    const run = await claim(w1, 'w1', 'operations', runId);
    if (runId === 'one') await replace(ann, 'later');
    await commit(w1, run, answers(runId));
  }
  await world.read('operations');
};

/** Two people decide on the same call, and disagree. */
const decisions: Scenario = async (world, { ann, bob, w1 }) => {
  await enqueue(ann, 'decision', 'decision');
  const run = await claim(w1, 'w1', 'decision', 'decision');
  await commit(w1, run, calls('pay'), inTools);
  await tried(suspendRun(w1.db, run, { round: 1, approvals: [0], timeoutMs: 60_000 }));
  const decide = ({ db }: Actor, decision: 'approved' | 'denied') =>
    tried(decideToolCall(db, 'decision', 'decision', { round: 1, index: 0 }, { decision, queuePrefix: 'lf' }));
  await decide(ann, 'approved');
  await decide(bob, 'denied');
  await decide(ann, 'approved');
  await world.read('decision');
};

/** A worker stores an outcome, an attempt that it had given up brings another one, and the worker dies. */
const outcomes: Scenario = async (world, { ann, w1, w2 }) => {
  await enqueue(ann, 'outcome', 'outcome');
  const run = await claim(w1, 'w1', 'outcome', 'outcome');
  await commit(w1, run, calls('look'), inTools);
  await record(w1, run, 'started');
  await record(w1, run, 'ok', 'first');
  await record(w1, run, 'ok', 'second');
  await world.skipLeases();
  await claim(w2, 'w2', 'outcome', 'outcome');
  await world.read('outcome');
};

const pay = defineTool({ name: 'pay', input: { type: 'object' }, replay: 'never', execute: () => 'paid' });

/** A worker dies while a tool runs that must not run again. */
const charge: Scenario = async (world, { ann, w1, w2 }) => {
  const execute = ({ recorder }: Actor) =>
    recorder
      .invoke('execute', 'charge', { run_id: 'charge', round: 1, index: 0, name: pay.name, replay: 'never' })
      .info('the worker died');
  await enqueue(ann, 'charge', 'charge');
  const run = await claim(w1, 'w1', 'charge', 'charge');
  await commit(w1, run, calls('pay'), inTools);
  await record(w1, run, 'started');
  execute(w1);
  await world.skipLeases();
  const next = await claim(w2, 'w2', 'charge', 'charge');
  const [call] = next.claim?.calls ?? [];
  const outcome =
    call?.status === 'started' &&
    (await world.runtime.afterCrash(
      pay,
      { id: 'c', name: 'pay', arguments: {}, arguments_raw: '{}' },
      {
        threadId: 'charge',
        runId: 'charge',
        requestId: 'charge',
        iteration: 1,
        round: 1,
        callIndex: 0,
        state: {},
        context: {},
      },
      { attempts: 1, signal: new AbortController().signal, agent: {} as ReadyAgent },
    ));
  if (!outcome) {
    await record(w2, next, 'started');
    execute(w2);
  } else await record(w2, next, outcome.status, outcome.content);
  await world.read('charge');
};

/** A run begins on a lane that has messages, and a fork takes over the first of them. */
const contexts: Scenario = async (world, { ann, w1, w2 }) => {
  await thread(world, 'context');
  for (const value of ['one', 'two', 'three']) await say(ann, 'context', value);
  await enqueue(ann, 'context', 'context');
  const run = await claim(w1, 'w1', 'context', 'context');
  await commit(w1, run, says('four'));
  await world.skipLeases();
  await claim(w2, 'w2', 'context', 'context');
  await tried(forkThread(ann.db, 'context', { atSeq: 0 }, { id: 'fork', requestHash: 'aa' }));
  await world.read('context');
  await world.read('fork');
};

/** Two runs take from one limit; the first gives back, the second ends. */
const limits: Scenario = async (world, { ann, w1, w2 }) => {
  const place = '* tokens all';
  const { db } = world.log;
  const limit = { scope: {}, by: 'test', kind: 'tokens', amount: 1_000, per_ms: 86_400_000 };
  await rows(db, 'select lanefold.set_limit($1, $2, $3)', '*', 'tokens', JSON.stringify(limit));
  const [found] = await rows<{ version: number }>(db, 'select lanefold._limits_version()::int as version');
  const use = ({ db: own }: Actor, run: string, call: LimitCall) =>
    tried(useLimits(own, { thread_id: run, run_id: run, version: found!.version, ...call }));
  const usage = async () => {
    const recording = ann.recorder.invoke('usage', 'limits', {});
    const [row] = await rows<{ reserved: number }>(
      db,
      `select reserved::float8 from lanefold.limit_usage where name = 'tokens' and key = 'all'`,
    );
    recording.ok({ reserved: { [place]: row!.reserved } });
  };
  const taken = await use(w1, 'spender', { take: [[place, 60]] });
  await use(w2, 'saver', { take: [[place, 30]] });
  await usage();
  await use(w1, 'spender', { done: [[place, 60, taken?.slices?.[place] ?? 0, 10]] });
  await usage();
  await use(w2, 'saver', { end: { [place]: 0 } });
  await usage();
};

const scenarios: Scenario[] = [
  appends,
  zombie,
  zombies,
  leases,
  lostAnswer,
  request,
  queue,
  cancels,
  inputs,
  operations,
  decisions,
  outcomes,
  charge,
  contexts,
  limits,
];

/** Everything that the mutants are caught at: the same calls in the same order, whatever the database answers. */
export async function play(world: World): Promise<void> {
  const [ann, bob, w1, w2] = ['ann', 'bob', 'w1', 'w2'].map((name) => world.actor(name)) as [
    Actor,
    Actor,
    Actor,
    Actor,
  ];
  for (const scenario of scenarios) await scenario(world, { ann, bob, w1, w2 });
}
