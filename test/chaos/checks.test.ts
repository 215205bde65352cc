import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { defineAgent, defineTool } from 'lanefold';
import { checks } from '../../src/chaos/checks/index.ts';
import { judge } from '../../src/chaos/check.ts';
import { Watch } from '../../src/chaos/watch.ts';
import { startWitness, testify, witnessed } from '../../src/chaos/history.ts';
import { fakeModel } from '../support/fake-model.ts';
import { startLanefold, type TestLanefold } from '../support/lanefold.ts';

const thread = 'broken';
const run = `(select id from lanefold._run where thread_id = '${thread}')`;
const off = 'set session_replication_role = replica; alter table lanefold._entry disable trigger user;';

/** A break of each promise by name, as no writer of ours would do it. */
const breaks: [string, string][] = [
  [
    'rev = number of entries = highest seq + 1',
    `delete from lanefold._entry where thread_id = '${thread}' and seq = 2`,
  ],
  ['event_rev = number of events = highest event_seq + 1', `update lanefold.thread set event_rev = event_rev + 1`],
  ['a run numbers its events 1, 2, 3, …', `update lanefold._run set event_count = event_count + 1`],
  [
    'the triggers that keep the log append-only are there and always on',
    `alter table lanefold._entry enable trigger append_only`,
  ],
  ['a run that has begun has its user message once, at user_seq', `update lanefold._run set user_seq = user_seq + 1`],
  ['a model call is answered once', twice(`role = 'assistant' and payload ? 'tool_calls'`)],
  ['a tool message of a run is the result of exactly one call of it', twice(`role = 'tool'`)],
  [
    'an ended run has exactly one terminal event, of its status; another none',
    `update lanefold._event_batch b set events = (select json_agg(e) from (
       select e from json_array_elements(b.events) e union all select e from json_array_elements(b.events) e where e ->> 'k' = 'request_completed') x)`,
  ],
  ['a cancel recorded before the end has won', `update lanefold._run set cancel_requested_at = created_at`],
  [
    'no call without its result, no result without its call',
    `delete from lanefold._entry where role = 'tool' and seq = 4`,
  ],
  [
    'an anchor holds closed groups',
    `update lanefold._entry set payload = jsonb_set(payload, '{operation,result_context,entries}',
       '[{"role": "assistant", "content": "", "tool_calls": [{"id": "x", "name": "look"}]}]') where is_anchor`,
  ],
  ['a lane is what its messages and operations make it', `delete from lanefold._lane`],
  ['only a lane with an active run has open calls', `delete from lanefold._entry where seq > 2`],
  ['no ended run has an open tool call', `update lanefold._tool_call set status = 'started' where call_index = 0`],
  ['every run has ended', `update lanefold._run set status = 'queued', finished_at = null`],
  ['the active run of a thread is the one in an active status', `update lanefold._run set active = true`],
  ['waiting_runs counts the waiting runs, and none waits for nobody', `update lanefold.thread set waiting_runs = 1`],
  [
    'one interrupt at most waits, and only for a run that is told to end',
    `update lanefold._run set active = true;
     insert into lanefold._run select (jsonb_populate_record(r, '{"id": "other", "active": false, "status": "waiting", "interrupts": true}')).*
     from lanefold._run r`,
  ],
  [
    'a suspended run waits for a decision and for no worker, and no other run does',
    `update lanefold._run set status = 'suspended', finished_at = null`,
  ],
  [
    'a call is denied by a decision, which has its result',
    `update lanefold._tool_call set status = 'denied', result_seq = null`,
  ],
  ['the state of a thread is what its log makes of nothing', `update lanefold.thread set state = '{"by": "nobody"}'`],
  ['an operation is in the log once if it was applied, else not at all', `delete from lanefold.context_op`],
  ['a pending operation waits for an active run', `update lanefold.thread set pending_op_id = 'nobody'`],
  [
    'an input is in the log once if it was injected, else not at all',
    `update lanefold.pending_input set entry_seq = 0`,
  ],
  [
    'a run that ended with its final answer took every input before it',
    `update lanefold.pending_input set status = 'dropped'`,
  ],
  ['queued_inputs counts the queued inputs, and no ended run has any', `update lanefold._run set queued_inputs = 1`],
  [
    'the results of a round follow each other in call order, each of its call',
    `update lanefold._tool_call set result_seq = 7 - result_seq`,
  ],
  ['an ended run keeps neither state nor input, and no state is above 64 KB', `update lanefold._run set state = '{}'`],
  [
    'a run writes its trace with its steps',
    `insert into lanefold._event_batch (event_seq, at, entry_seq, seq, thread_id, run_id, events)
     select 1000 + n, at, 0, 1000 + n, thread_id, run_id, '[{"k": "x", "i": 1}]'
     from generate_series(1, 100) n, (select * from lanefold._event_batch limit 1) b`,
  ],
  [
    'every entry is as it was when it was written',
    `update lanefold._entry set payload = '{"content": "go!"}' where seq = 1`,
  ],
  ['what was acknowledged is there', `insert into witness.acknowledged values ('run', '${thread}', 'run_gone')`],
  [
    'no holder of a run starts a call whose outcome is stored',
    `insert into witness.tool_start select ${run}, 1, 0, 'look', w.pid, clock_timestamp() from witness.worker w`,
  ],
  [
    'a tool that must never run again was started once at most',
    `insert into witness.tool_start select ${run}, 1, 1, 'charge', -1, at from (select clock_timestamp() at) x, generate_series(1, 2)`,
  ],
  [
    'what a model was sent is what the log gives, and grows only at its end',
    `update lanefold._entry set payload = '{"content": "go!"}' where seq = 1`,
  ],
  [
    'a context holds both or neither of a call and its result',
    `update lanefold._entry set payload = payload - 'tool_calls' where role = 'assistant' and payload ? 'tool_calls'`,
  ],
];

/** A second copy of an entry at the end of the log, with its number accounted for. */
function twice(which: string): string {
  return `insert into lanefold._entry select (jsonb_populate_record(e, jsonb_build_object('seq', t.rev))).*
    from lanefold._entry e join lanefold.thread t on t.id = e.thread_id where ${which} and e.thread_id = '${thread}' order by e.seq limit 1;
    update lanefold.thread set rev = rev + 1`;
}

describe('the checks of a campaign', () => {
  let lanefold: TestLanefold;
  let watch: Watch;
  beforeAll(async () => {
    const tool = (name: string) => defineTool({ name, input: { type: 'object' }, execute: () => `${name} done` });
    const model = fakeModel(async (_, n) => {
      if (n > 0) return { text: 'Done.' };
      await lanefold.runs.steer(thread, 'and this', { inputId: 'said' });
      return { calls: ['look', 'charge'].map((name, i) => ({ id: `c${i}`, name })) };
    });
    const agent = defineAgent({ name: 'a', model: 'fake', instructions: 'Be.', tools: [tool('look'), tool('charge')] });
    lanefold = await startLanefold({ agents: [agent], models: { fake: model } });
    watch = new Watch(() => lanefold.database.url);
    await startWitness(watch);
    const worker = await lanefold.startWorker();
    const handle = await lanefold.runs.enqueue({ agent: 'a', input: 'go', threadId: thread, createThread: true });
    expect(await lanefold.runs.wait(handle)).toMatchObject({ status: 'completed', result: 'Done.' });
    await lanefold.contexts.replace(thread, { entries: [{ role: 'user', content: 'anew' }] }, { opId: 'anew' });
    const acknowledged = {
      runs: [handle],
      inputs: [{ threadId: thread, id: 'said' }],
      operations: [{ threadId: thread, id: 'anew' }],
    };
    await testify(watch, { starts: [], workers: new Map([[worker.id, 1]]), acknowledged });
    await worker.stop();
  });
  afterAll(async () => {
    await watch?.close();
    await lanefold?.close();
  });

  test('find nothing in what the product wrote', async () => {
    expect(await judge(watch)).toEqual({ violations: [], projectedCalls: 2 });
  });

  test('are all broken below', () => {
    const broken = breaks.map(([name]) => name);
    expect(broken).toEqual(expect.arrayContaining([...checks, ...witnessed].map((check) => check.name)));
  });

  test.each(breaks)('%s: a break is found', async (name, sql) => {
    await watch.query('begin');
    try {
      await watch.query(`${off} ${sql}`);
      await watch.query(`set local session_replication_role = origin`);
      const { violations } = await judge(watch);
      expect(violations.map((violation) => violation.name)).toContain(name);
    } finally {
      await watch.query('rollback');
    }
  });
});
