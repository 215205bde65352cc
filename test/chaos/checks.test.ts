// @module-tag slow
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { defineAgent, defineTool } from 'lanefold';
import { checks, runChecks } from '../../src/ops/chaos/run-checks.ts';
import { historyChecks, recordHistory, startHistory } from '../../src/ops/chaos/history.ts';
import { Observer } from '../../src/ops/chaos/schedule.ts';
import { recordAsks } from '../../src/ops/chaos/recording/record-statements.ts';
import { nothingAcknowledged, Journal, readAsks } from '../../src/ops/chaos/workload/journal.ts';
import { limitedAgent, setStrictLimits } from '../../src/ops/chaos/workload/features.ts';
import { fakeModel } from '../support/fake-model.ts';
import { startLanefold, type TestLanefold } from '../support/lanefold.ts';

const thread = 'broken';
const run = `(select id from lanefold._run where thread_id = '${thread}')`;
/** Adds events to each batch of the trace; `stored` are those that it has. */
const withEvents = (more: string) =>
  `update lanefold._event_batch b set events = (
     with stored as (select jsonb_array_elements(s.events) as e from lanefold._batch s where s.thread_id = b.thread_id and s.event_seq = b.event_seq)
     select lanefold._packed_events(jsonb_agg(x.e)) from (select e from stored union all ${more}) x)`;
const disableTriggers = 'set session_replication_role = replica; alter table lanefold._entry disable trigger user;';

/** For each check, by name, a change that violates it and that the product never makes. */
const violating: [string, string][] = [
  [
    'rev = number of entries = highest seq + 1',
    `delete from lanefold._entry where thread_id = '${thread}' and seq = 2`,
  ],
  ['event_rev = number of events = highest event_seq + 1', `update lanefold.thread set event_rev = event_rev + 1`],
  ['the events of a run are numbered 1, 2, 3, …', `update lanefold._run set event_count = event_count + 1`],
  [
    'the triggers that keep the log append-only exist and are always enabled',
    `alter table lanefold._entry enable trigger append_only`,
  ],
  ['a started run has its user message at user_seq', `update lanefold._run set user_seq = user_seq + 1`],
  [
    'every large text that an entry quotes is stored unchanged',
    `update lanefold._entry set refs = '{"contents": [{"id": "c_0"}]}' where seq = 1`,
  ],
  ['a model call has at most one answer', duplicate(`role = 'assistant' and payload ? 'tool_calls'`)],
  ['a tool message of a run is the result of exactly one of its calls', duplicate(`role = 'tool'`)],
  [
    'an ended run has exactly one terminal event, matching its status; other runs have no terminal event',
    withEvents(`select e from stored where e ->> 'k' = 'request_completed'`),
  ],
  [
    'a run whose cancellation was recorded before it ended is cancelled',
    `update lanefold._run set cancel_requested_at = created_at`,
  ],
  [
    'every tool call has its result, and every result its call',
    `delete from lanefold._entry where role = 'tool' and seq = 4`,
  ],
  [
    'an anchor contains only closed groups',
    `update lanefold._entry set payload = jsonb_set(payload, '{operation,result_context,entries}',
       '[{"role": "assistant", "content": "", "tool_calls": [{"id": "x", "name": "look"}]}]') where is_anchor`,
  ],
  ['a lane matches its messages and operations', `delete from lanefold._lane`],
  ['only a lane with an active run has open calls', `delete from lanefold._entry where seq > 2`],
  ['no ended run has an open tool call', `update lanefold._tool_call set status = 'started' where call_index = 0`],
  ['every run has ended', `update lanefold._run set status = 'queued', finished_at = null`],
  ['the active run of a thread is the one with an active status', `update lanefold._run set active = true`],
  [
    'waiting_runs equals the number of waiting runs, which wait only behind an active run',
    `update lanefold.thread set waiting_runs = 1`,
  ],
  [
    'at most one interrupt waits, and only for a run whose cancellation was requested',
    `update lanefold._run set active = true;
     insert into lanefold._run select (jsonb_populate_record(r, '{"id": "other", "active": false, "status": "waiting", "interrupts": true}')).*
     from lanefold._run r`,
  ],
  [
    'a suspended run has an open wait and no lease, and no ended run has an open wait',
    `update lanefold._run set status = 'suspended', finished_at = null`,
  ],
  [
    'a call awaits a decision if and only if its approval is an open wait of a suspended run',
    `update lanefold._tool_call set status = 'awaiting_approval', result_seq = null`,
  ],
  [
    'a call is denied if and only if a decision denied it and its outcome is stored',
    `update lanefold._tool_call set status = 'denied', result_seq = null`,
  ],
  [
    'a run that a call started is the only one of that call, which names it',
    `insert into lanefold._child_run (parent_round, parent_index, depth, thread_id, run_id, parent_thread_id, parent_run_id, root_thread_id, root_run_id)
     select 1, 0, 1, 'child', 'child', thread_id, id, thread_id, id from lanefold._run`,
  ],
  [
    'a call that waited for a run which completed has the answer of that run',
    `insert into lanefold._wait (created_at, round, call_index, thread_id, run_id, kind, status, child_thread_id, child_run_id)
     select created_at, 1, 0, thread_id, id, 'run', 'resolved', thread_id, id from lanefold._run`,
  ],
  [
    'no wait has anything left to do, and every parent knows how its children ended',
    `insert into lanefold._wait (created_at, round, call_index, thread_id, run_id, kind, status, task)
     select created_at, 1, 0, thread_id, id, 'run', 'abandoned', 'cancel' from lanefold._run`,
  ],
  [
    'a run has the agent of its last handoff, and each handoff comes from the agent before',
    withEvents(`select '{"k": "handed_over", "i": 1, "d": {"from": "a", "to": "b"}}'::jsonb`),
  ],
  [
    'a call says that it handed the run over only if its agent got the run',
    `update lanefold._entry set refs = refs || '{"handoff": {"agent": "b"}}' where role = 'tool'`,
  ],
  [
    'nothing of a limit is held once every run has ended',
    `insert into lanefold._limit_account (touched_at, thread_id, run_id, holds) select created_at, thread_id, id, '{}' from lanefold._run`,
  ],
  ['the state of a thread is the state folded from its log', `update lanefold.thread set state = '{"by": "nobody"}'`],
  [
    'an operation is in the log exactly once if it was applied, and otherwise absent',
    `delete from lanefold.context_op`,
  ],
  ['a pending operation waits for an active run', `update lanefold.thread set pending_op_id = 'nobody'`],
  [
    'an input is in the log exactly once if it was injected, and otherwise absent',
    `update lanefold.pending_input set entry_seq = 0`,
  ],
  [
    'a run that ended with a final answer received every input before that answer',
    `update lanefold.pending_input set status = 'dropped'`,
  ],
  [
    'queued_inputs equals the number of queued inputs, and is 0 for ended runs',
    `update lanefold._run set queued_inputs = 1`,
  ],
  [
    'the results of a round are consecutive, in call order, and each belongs to its call',
    `update lanefold._tool_call set result_seq = 7 - result_seq`,
  ],
  [
    'an ended run keeps no state and, if it had started, no input; no state exceeds 64 KB',
    `update lanefold._run set state = '{}'`,
  ],
  [
    'the number of trace batches of a run is bounded by its steps',
    `insert into lanefold._event_batch (event_seq, at, entry_seq, seq, thread_id, run_id, events)
     select 1000 + n, at, 0, 1000 + n, thread_id, run_id, '[{"k": "x", "i": 1}]'
     from generate_series(1, 100) n, (select * from lanefold._event_batch limit 1) b`,
  ],
  [
    'every entry is unchanged since it was written',
    `update lanefold._entry set payload = '{"content": "go!"}' where seq = 1`,
  ],
  [
    'everything acknowledged to a client is stored',
    `insert into history.acknowledged values ('run', '${thread}', 'run_gone')`,
  ],
  [
    'the holder of a run never starts a call whose outcome is stored',
    `insert into history.tool_start select ${run}, 1, 0, 'look', w.pid, clock_timestamp() from history.worker w`,
  ],
  [
    'a tool with replay: never is started at most once per call',
    `insert into history.tool_start select ${run}, 1, 1, 'charge', -1, at from (select clock_timestamp() at) x, generate_series(1, 2)`,
  ],
  [
    'no run ends as poisoned for faults that it did not cause',
    `update lanefold._run set termination_reason = 'poisoned'`,
  ],
  [
    'no tool starts for a call of a cut answer, or with arguments that are no JSON object',
    `update lanefold._tool_call set tool_call_id = 'never_1' where call_index = 0;
     insert into history.tool_start select ${run}, 1, 0, 'look', w.pid, '-infinity' from history.worker w`,
  ],
  [
    'a completed run of a strategy has the same result as without faults',
    `insert into history.strategy_run select thread_id, id, '{"best": {}}' from lanefold.run`,
  ],
  [
    'the log reproduces every context sent to a model, and contexts only grow at the end',
    `update lanefold._entry set payload = '{"content": "go!"}' where seq = 1`,
  ],
  [
    'a context contains both a call and its result, or neither',
    `update lanefold._entry set payload = payload - 'tool_calls' where role = 'assistant' and payload ? 'tool_calls'`,
  ],
  [
    'every request that a provider gets is well-formed',
    `insert into history.provider_call (no, model, thread_id, problem) values (1, 'odd', '${thread}', 'a call has no id')`,
  ],
  ['a call of a limited run is made after its process has asked the limits', calledProvider({ asks: false })],
  ['no window of an interval has more calls or tokens than the limit, by the log of the provider', calledProvider()],
  ['no more runs are at work than a limit of slots lets, by the log of the provider', calledProvider()],
  [
    'a limit of tokens has counted what its runs have used: all that the log has, and no more than the provider gave',
    `update lanefold._run set usage = '{"total_tokens": 1}'`,
  ],
  [
    'a limit of calls has counted every answered call, and no call that it did not grant',
    `update history.limit_ask set refused = true`,
  ],
  [
    'every slot that came while a schedule was watched is listed',
    `insert into history.schedule values ('s', 1000, now() - interval '5 s', now())`,
  ],
  ['a slot has a run if and only if it fired, and no other slot has that run', slot('fired')],
  ['every run of a schedule belongs to one of its slots', `update lanefold._run set request_id = 'schedule:s:1'`],
  ['no slot is left to start once the schedules are paused', slot('due')],
  ['every end of a run reaches every webhook', `insert into history.webhook values ('w', false, '-infinity')`],
  ['a webhook is told only of runs that have ended, and how', received({ type: 'run.failed' })],
  ['every request of a webhook is signed with its secret', received({ signed: false })],
  [
    'an event has one id for each webhook, however often it is sent',
    `${received({ id: 'one' })}; ${received({ id: 'two' })}`,
  ],
  [
    'an ordered webhook has the events of a thread in the order in which they happened',
    `${received({ n: 2 })};
     insert into history.webhook values ('w', true, 'infinity');
     insert into lanefold._run select (jsonb_populate_record(r, jsonb_build_object('id', 'later', 'request_id', 'later', 'finished_at', r.finished_at + interval '1 s'))).*
     from lanefold._run r;
     ${received({ n: 1, run: `'later'`, id: 'later' })}`,
  ],
  [
    'a wait that has ended has one end in the trace, unless its run ended first',
    wait(`'time', 'resolved', null, null`),
  ],
  [
    'a wait that has a time ends by itself only after it',
    wait(`'time', 'expired', null, created_at + interval '1 hour'`),
  ],
  [
    'a wait for an event ends with a payload that was sent, and no two receipts name it',
    wait(`'event', 'resolved', 'paid', null`),
  ],
];

/** A call in the log of the provider, by the holder of the run, where the limits let nothing pass. */
function calledProvider({ asks = true } = {}): string {
  return `update history.strict_limit set amount = 0;
    insert into history.lease select thread_id, id, 99, w.worker_id, clock_timestamp() from lanefold._run, history.worker w;
    ${asks ? `insert into history.limit_ask select ${run}, w.pid, clock_timestamp() from history.worker w` : 'truncate history.limit_ask'};
    update lanefold._run set finished_at = clock_timestamp() + interval '1 minute';
    insert into history.provider_call (no, model, thread_id, pid, at, ended_at, tokens)
    select 1, 'plain', '${thread}', w.pid, clock_timestamp(), clock_timestamp() + interval '1 s', 80 from history.worker w;
    refresh materialized view history.limited_call`;
}

/** A slot of a schedule, without a run. */
function slot(status: string): string {
  return `insert into lanefold._schedule_slot (slot, due_at, tenant_id, name, status) values (now(), now(), 'default', 's', '${status}')`;
}

/** A request in the log of the receiver. */
function received({ n = 1, id = 'e', type = 'run.completed', run: of = run, signed = true } = {}): string {
  return `insert into history.webhook_request values (${n}, 'w', '${id}', '${type}', '${thread}', ${of}, ${signed}, true)`;
}

/** A wait that has ended, with its kind, status, event and time. */
function wait(values: string): string {
  return `insert into lanefold._wait (created_at, ended_at, round, call_index, thread_id, run_id, kind, status, event, until)
    select created_at, created_at, 1, 0, thread_id, id, ${values} from lanefold._run`;
}

/** Appends a second copy of an entry and increments `rev` to match. */
function duplicate(which: string): string {
  return `insert into lanefold._entry select (jsonb_populate_record(e, jsonb_build_object('seq', t.rev))).*
    from lanefold._entry e join lanefold.thread t on t.id = e.thread_id where ${which} and e.thread_id = '${thread}' order by e.seq limit 1;
    update lanefold.thread set rev = rev + 1`;
}

describe('the checks of a chaos campaign', () => {
  let dir: string;
  let stopRecording = () => {};
  let lanefold: TestLanefold;
  let observer: Observer;
  beforeAll(async () => {
    const tool = (name: string) => defineTool({ name, input: { type: 'object' }, execute: () => `${name} done` });
    const model = fakeModel(async (_, n) => {
      if (n > 0) return { text: 'Done.' };
      await lanefold.runs.steer(thread, 'and this', { inputId: 'steered' });
      return { calls: ['look', 'charge'].map((name, i) => ({ id: `c${i}`, name })) };
    });
    const agent = defineAgent({
      name: limitedAgent,
      model: 'fake',
      instructions: 'Be.',
      tools: [tool('look'), tool('charge')],
      settings: { maxOutputTokens: 200 },
    });
    lanefold = await startLanefold({ agents: [agent], models: { fake: model } });
    observer = new Observer(() => lanefold.database.url);
    await startHistory(observer);
    dir = await mkdtemp(path.join(tmpdir(), 'lanefold-checks-'));
    stopRecording = recordAsks(new Journal(dir));
    await setStrictLimits({ lanefold, signal: AbortSignal.abort() }, {});
    const worker = await lanefold.startWorker();
    const handle = await lanefold.runs.enqueue({
      agent: limitedAgent,
      input: 'go',
      threadId: thread,
      createThread: true,
    });
    expect(await lanefold.runs.wait(handle)).toMatchObject({ status: 'completed', result: 'Done.' });
    await lanefold.contexts.replace(
      thread,
      { entries: [{ role: 'user', content: 'new context' }] },
      { opId: 'replaced' },
    );
    const acknowledged = {
      ...nothingAcknowledged(),
      runs: [handle],
      inputs: [{ threadId: thread, id: 'steered' }],
      operations: [{ threadId: thread, id: 'replaced' }],
    };
    await worker.stop();
    const workers = new Map([[worker.id, process.pid]]);
    await recordHistory(observer, { starts: [], asks: readAsks(dir), workers, acknowledged });
  });
  afterAll(async () => {
    stopRecording();
    await observer?.close();
    await lanefold?.close();
    await rm(dir, { recursive: true, force: true });
  });

  test('find no violation in what the product wrote', async () => {
    expect(await runChecks(observer)).toEqual({ violations: [], replayedCalls: 2 });
  });

  test('each have a violation below', () => {
    const names = violating.map(([name]) => name);
    expect(names).toEqual(expect.arrayContaining([...checks, ...historyChecks].map((check) => check.name)));
  });

  test.each(violating)('detect a violation of: %s', async (name, sql) => {
    await observer.query('begin');
    try {
      await observer.query(`${disableTriggers} ${sql}`);
      await observer.query(`set local session_replication_role = origin`);
      const { violations } = await runChecks(observer);
      expect(violations.map((violation) => violation.name)).toContain(name);
    } finally {
      await observer.query('rollback');
    }
  });
});
