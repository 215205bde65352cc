import type { Mutant } from './mutants.ts';

/** Mistakes that are easy to make in the newer rooms. */
export const newerRooms: Mutant[] = [
  // chains of models
  {
    name: 'a chain waits between two models of a round',
    source: {
      'src/agent/strategies/fallback.ts': [
        ['retries, delayMs: 0, passes: true', 'retries, delayMs: 500, passes: true'],
      ],
    },
    caughtBy: {
      file: 'test/strategies/fallback.test.ts',
      test: 'for any failures a call ends after at most as many attempts as models times rounds, each round in the order of the chain, and no model waits in between',
    },
  },
  {
    name: 'a round of a chain never ends',
    source: { 'src/agent/strategies/fallback.ts': [['return next === from ? undefined : next;', 'return next;']] },
    caughtBy: {
      file: 'test/strategies/fallback.test.ts',
      test: 'for any failures a call ends after at most as many attempts as models times rounds, each round in the order of the chain, and no model waits in between',
    },
  },
  {
    name: 'the answer of a model that stands in counts as an answer of the run’s own model',
    source: { 'src/worker/run/prepare-call.ts': [['...(model === own ? {} : { model }),', '']] },
    caughtBy: {
      file: 'test/runtime/run/fallback.test.ts',
      test: 'a chain of models what a model wrote before its stream broke is withdrawn from readers, kept in the trace, and paid for',
    },
  },
  {
    name: 'a model that is late with its first token is waited for',
    source: {
      'src/agent/models/generate.ts': [
        [
          'const firstTokenMs = call.stream === false ? undefined : call.firstTokenMs;',
          'const firstTokenMs = undefined;',
        ],
      ],
    },
    caughtBy: {
      file: 'test/runtime/run/fallback.test.ts',
      test: 'a chain of models a model that has not begun within firstTokenMs is left for the next one',
    },
  },
  // schedules
  {
    name: 'a worker settles a slot that another one has taken meanwhile',
    sql: { settle_slot: [["and status = 'firing' and taken_at = p_taken_at", "and status = 'firing'"]] },
    caughtBy: {
      file: 'test/schedules/overtaken.test.ts',
      test: 'a slot that another worker took meanwhile is settled only by the one that took it last',
    },
  },
  {
    name: 'old slots are deleted with the last one that has fired',
    sql: { drop_slots: [["(k.status <> 'fired' or exists (", '(true or exists (']] },
    caughtBy: {
      file: 'test/schedules/firing.test.ts',
      test: 'a schedule keeps old slots for a while, and the last that fired as long as it is there',
    },
  },
  {
    name: 'a schedule that is set again moves its next slot',
    sql: {
      set_schedule: [
        ["case when paused_at is null and timing <> p -> 'timing' then", 'case when paused_at is null then'],
      ],
    },
    caughtBy: {
      file: 'test/schedules/schedules.test.ts',
      test: 'schedules keep their next slot as long as their times stay',
    },
  },
  // waits and child runs
  {
    name: 'a wait that expires ends the other waits of its run',
    sql: { expire_waits: [["and k.status = 'open' and k.until < v_at order by", "and k.status = 'open' order by"]] },
    caughtBy: {
      file: 'test/waits/expired.test.ts',
      test: 'a call whose time to wait is up fails alone: the other calls of its round continue waiting',
    },
  },
  {
    name: 'an event that is sent again is kept no longer than the first one',
    sql: { keep_event: [['keep_until = excluded.keep_until', 'keep_until = k.keep_until']] },
    caughtBy: {
      file: 'test/waits/kept-events.test.ts',
      test: 'an event that is sent again is kept from then on',
    },
  },
  {
    name: 'what a child run has cost is forgotten',
    sql: { end_child: [["child_cost = (p ->> 'cost')::float8", 'child_cost = 0']] },
    caughtBy: {
      file: 'test/waits/spawned.test.ts',
      test: 'a run that a call has spawned continues after its parent has completed, which knows at last what it cost',
    },
  },
  // handoffs
  {
    name: 'the next agent gets the tools that the request allowed the first one',
    source: {
      'src/agent/definition/option-table.ts': [
        ["an empty array allows none.' }),\n", "an empty array allows none.' }),\n    handoff: 'kept',\n"],
      ],
    },
    caughtBy: {
      file: 'test/handoffs/asked-of-the-first.test.ts',
      test: 'what a request asks of its agent is not asked of the agent that the run is handed to',
    },
  },
  {
    name: 'a run is handed over once more than its agent allows',
    source: {
      'src/worker/run/handoffs.ts': [['if (before < agent.maxHandoffs)', 'if (before <= agent.maxHandoffs)']],
    },
    caughtBy: {
      file: 'test/handoffs/handoffs.test.ts',
      test: 'handing a run to another agent cycles are bounded',
    },
  },
  // webhooks
  {
    name: 'an attempt that was overtaken settles its delivery',
    sql: {
      settle_deliveries: [
        ["and d.status = 'pending' and d.attempts = (s.g ->> 'attempt')::int", "and d.status = 'pending'"],
      ],
    },
    caughtBy: {
      file: 'test/webhooks/overtaken.test.ts',
      test: 'an attempt that another one has overtaken settles nothing',
    },
  },
  {
    name: 'two deliveries that end at once leave the one waiting that follows them',
    sql: {
      _hold_deliveries: [['if lanefold._hold_first_delivery(p_thread_id, v_webhook, p_waits) then', 'if true then']],
    },
    caughtBy: {
      file: 'test/webhooks/overtaken.test.ts',
      test: 'of two deliveries that end at once, one makes the next one due',
    },
  },
  {
    name: 'a secret of an endpoint signs after its time',
    sql: { _endpoint_of: [["where not s ? 'expires_at' or (s ->> 'expires_at')::timestamptz > p_at", 'where true']] },
    caughtBy: {
      file: 'test/webhooks/overtaken.test.ts',
      test: 'a secret signs until its time is over',
    },
  },
  {
    name: 'deliveries that are given up hold up those behind them',
    sql: { give_up_deliveries: [['perform lanefold._next_delivery(p_thread_id, p_webhook_id, v_at);', '']] },
    caughtBy: {
      file: 'test/webhooks/retention.test.ts',
      test: 'of those that wait for a paused webhook, or one that has failed for long, the newest are kept',
    },
  },
  // limits
  {
    name: 'a run takes of a limit while it ends, and nothing returns it',
    sql: { use_limits: [['<> v_version or v_account is null) then', '<> v_version) then']] },
    caughtBy: {
      file: 'test/limits/buckets.test.ts',
      test: 'a call that waits while the run ends takes nothing that no account has',
    },
  },
  // evals and monitors
  {
    name: 'an item of an eval is taken from the worker that starts its run',
    sql: { take_eval_items: [['and not i.held_until > v_at)', ')']] },
    caughtBy: {
      file: 'test/evals/held.test.ts',
      test: 'an item belongs to the worker that starts its run, until its time is over',
    },
  },
  {
    name: 'an erased thread leaves what evals quote of it',
    sql: {
      erase_cases: [
        ["set status = 'erased', settled_at = v_at, answer = null,", "set status = 'erased', settled_at = v_at,"],
      ],
    },
    caughtBy: {
      file: 'test/evals/settled.test.ts',
      test: 'what becomes of items after an erasure no thread of an item or of a judge is left, also if the case was removed',
    },
  },
  {
    name: 'a score that comes late replaces the one that counts',
    sql: { store_run_score: [["where s.status = 'waiting' and excluded.status = 'done'", 'where true']] },
    caughtBy: {
      file: 'test/monitors/scores.test.ts',
      test: 'count once: what comes after the score of a run changes nothing',
    },
  },
  {
    name: 'an alert counts scores from before its monitor was changed',
    sql: { _check_alert: [[' and s.scored_at >= m.updated_at', '']] },
    caughtBy: {
      file: 'test/monitors/scores.test.ts',
      test: 'from before a change of the monitor never count for its alert again',
    },
  },
  // versions and rollouts
  {
    name: 'a thread that is given a version of one agent forgets those of the others',
    sql: { set_thread_version: [["coalesce(versions, '{}') || jsonb_build_object", 'jsonb_build_object']] },
    caughtBy: {
      file: 'test/library/rollouts.test.ts',
      test: 'versions of an agent in one fleet a thread that is moved to a version of one agent keeps those of the others',
    },
  },
  {
    name: 'a rollout moves conversations that began before it',
    source: { 'src/runs/operations/agents/version-chooser.ts': [['if (kept === null && hasRuns) return none;', '']] },
    caughtBy: {
      file: 'test/library/rollouts.test.ts',
      test: 'versions of an agent in one fleet a version that no worker has had is named, and the first serves instead',
    },
  },
  // access keys and tenants
  {
    name: 'the earlier secret of a rotated key outlives the key',
    sql: {
      rotate_key: [
        ["least(expires_at, v_at + p_overlap_ms * interval '1 ms')", "v_at + p_overlap_ms * interval '1 ms'"],
      ],
    },
    caughtBy: {
      file: 'test/library/rotated-keys.test.ts',
      test: 'no secret of a rotated key works longer than the key does, or than the overlap',
    },
  },
  {
    name: 'a key that expires makes one that does not',
    source: { 'src/base/access/principal.ts': [['if ((expiresAtMs ?? Infinity) >', 'if ((expiresAtMs ?? 0) >']] },
    caughtBy: {
      file: 'test/api/keys.test.ts',
      test: 'a key with the scope admin makes no key with more than it has itself: no end',
    },
  },
  // streams
  {
    name: 'an append without a number forgets the last number of its stream',
    sql: { append_stream: [["last_seq = coalesce(p ->> 'seq', last_seq)", "last_seq = p ->> 'seq'"]] },
    caughtBy: {
      file: 'test/durable-streams/streams.test.ts',
      test: 'a stream has numbers that a writer gives its appends, which only rise, also over appends without one',
    },
  },
  {
    name: 'streams without a thread are shared by all tenants',
    sql: { _stream_path: [["coalesce(nullif(lanefold._scope(), '*'), 'default')", "'default'"]] },
    caughtBy: {
      file: 'test/durable-streams/streams.test.ts',
      test: 'the erasure of a tenant takes its streams that belong to no thread, and none of another',
    },
  },
  // runs that no claim advances
  {
    name: 'a claim beside other runs counts towards poisoned',
    sql: { _claim_run: [["r.claims_alone + (p -> 'alone')::boolean::int", 'r.claims_alone + 1']] },
    caughtBy: {
      file: 'test/db/poisoned.test.ts',
      test: 'a run that no claim advances is left for a worker without other runs after four claims, none of which counts against it',
    },
  },
  {
    name: 'a claim counts towards poisoned although its worker was lost for another reason',
    sql: { _claims_alone: [['then greatest(r.claims_alone - 1, 0)', 'then r.claims_alone']] },
    caughtBy: {
      file: 'test/db/poisoned.test.ts',
      test: 'a run that no claim advances is not ended for workers that were lost for another reason, until there were twenty',
    },
  },
  {
    name: 'a run is never poisoned while its workers are lost for other reasons',
    sql: { _judge_claims: [['>= 4 * greatest(v_max, 2)', '>= 400 * greatest(v_max, 2)']] },
    caughtBy: {
      file: 'test/db/poisoned.test.ts',
      test: 'a run that no claim advances is not ended for workers that were lost for another reason, until there were twenty',
    },
  },
  {
    name: 'a run is poisoned before the loss of its last worker is looked into',
    sql: { _judge_claims: [["v_ends and (r.lost_at is null or v_alone or p ? 'loss_cause')", 'v_ends']] },
    caughtBy: {
      file: 'test/db/poisoned.test.ts',
      test: 'a run that no claim advances is left for a worker without other runs after four claims, none of which counts against it',
    },
  },
  {
    name: 'one lost worker keeps two claims from counting towards poisoned',
    sql: { _claim_run: [['lost_at = null', 'lost_at = r.lost_at']] },
    caughtBy: {
      file: 'test/db/poisoned.test.ts',
      test: 'a run that no claim advances has one claim excused for each worker that was lost',
    },
  },
  {
    name: 'a claim of a worker that stops counts towards poisoned',
    sql: {
      release_run: [['claims_alone = greatest(r.claims_alone - p_stopping::int, 0)', 'claims_alone = r.claims_alone']],
    },
    caughtBy: {
      file: 'test/db/poisoned.test.ts',
      test: 'a run that no claim advances has no claim counted by a worker that stops',
    },
  },
  {
    name: 'a worker that has stopped is taken for one that was lost at once: poisoned',
    sql: { loss_cause: [['w.stopped_at is null and w.heartbeat_at', 'w.heartbeat_at']] },
    caughtBy: {
      file: 'test/db/loss-cause.test.ts',
      test: 'another worker that fell silent within the same moment',
    },
  },
  {
    name: 'an earlier worker of the run is taken for one that was lost at once: poisoned',
    sql: { loss_cause: [['p_seen_at - v_late * 2 / 3', 'p_seen_at - v_late * 2']] },
    caughtBy: {
      file: 'test/db/loss-cause.test.ts',
      test: 'another worker that fell silent within the same moment',
    },
  },
  {
    name: 'a blocked worker is taken for a silent database: poisoned',
    sql: { loss_cause: [['where w.id <> p_worker_id and upper(heeded)', 'where upper(heeded)']] },
    caughtBy: {
      file: 'test/db/loss-cause.test.ts',
      test: 'such a time says nothing if the lost worker is the only one that lived through it',
    },
  },
  {
    name: 'a worker that was killed while it stopped speaks for poisoned',
    sql: { loss_cause: [['elsif v_draining then', 'elsif false then']] },
    caughtBy: {
      file: 'test/db/loss-cause.test.ts',
      test: 'a worker that had been told to stop',
    },
  },
  {
    name: 'a worker that was busy itself is a witness against the database: not poisoned',
    sql: { loss_cause: [['tstzmultirange(s) - w.busy', 'tstzmultirange(s)']] },
    caughtBy: {
      file: 'test/db/loss-cause.test.ts',
      test: 'a worker that reports later why it missed its heartbeats is no witness of the time in which it was busy, but of what was left',
    },
  },
  {
    name: 'a worker that was frozen speaks for poisoned',
    sql: { loss_cause: [['elsif v_frozen then', 'elsif false then']] },
    caughtBy: {
      file: 'test/db/loss-cause.test.ts',
      test: 'a worker that reports later why it missed its heartbeats was frozen, whatever others did',
    },
  },
  {
    name: 'a restart of the database speaks for poisoned',
    sql: { _restarted_since: [['pg_postmaster_start_time() > p_at', 'false']] },
    caughtBy: {
      file: 'test/db/loss-cause.test.ts',
      test: 'a server that was started since',
    },
  },
  {
    name: 'a worker does not say why the last one was lost: poisoned',
    source: { 'src/worker/process/claim-job.ts': [['{ alone: true, lossCause }', '{ alone: true }']] },
    caughtBy: {
      file: 'test/simulation/poisoned.test.ts',
      test: 'runs that kill their workers end, and no other ends for it (seed 6)',
    },
  },
  // circuits
  {
    name: 'two calls probe a model at the same time',
    sql: { _circuit_asked: [["c.state = 'half_open' and c.probe_until <= p_at", "c.state = 'half_open'"]] },
    caughtBy: {
      file: 'test/circuits/counting.test.ts',
      test: 'what becomes of a circuit is probed by one call at a time, and by the next one once a probe is lost',
    },
  },
  {
    name: 'a circuit whose probe is lost is never probed again',
    sql: { _circuit_asked: [["c.state = 'half_open' and c.probe_until <= p_at", 'false']] },
    caughtBy: {
      file: 'test/circuits/counting.test.ts',
      test: 'what becomes of a circuit is probed by one call at a time, and by the next one once a probe is lost',
    },
  },
  {
    name: 'a probe that was overtaken closes the circuit',
    sql: { _circuit_probed: [['if (c.probe = p_probe) is not true then', 'if c.probe is null then']] },
    caughtBy: {
      file: 'test/circuits/counting.test.ts',
      test: 'what becomes of a circuit follows from its row and what happened, whatever happens',
    },
  },
  {
    name: 'a circuit opens however few calls there were',
    sql: { _circuit_counted: [["v_all >= (p_rule ->> 'min_calls')::int", 'true']] },
    caughtBy: { file: 'test/circuits/counting.test.ts', test: 'what becomes of a circuit opens by too few calls' },
  },
  {
    name: 'a provider is called before the time that it asked for',
    sql: {
      _circuit_opened: [["coalesce(p_wait_ms, (p_rule ->> 'open_ms')::bigint)", "(p_rule ->> 'open_ms')::bigint"]],
    },
    caughtBy: {
      file: 'test/circuits/counting.test.ts',
      test: 'what becomes of a circuit is open for as long as the rule says, or the provider',
    },
  },
  {
    name: 'a question of AG-UI that follows an earlier run follows the newest one',
    source: {
      'src/doors/ag-ui/runs/begin.ts': [
        [
          'if (parent.isNewest || (parent.ended && parent.seq === null)) return { contextRef };',
          'if (parent.id) return { contextRef };',
        ],
      ],
    },
    caughtBy: {
      file: 'test/ag-ui/branches.test.ts',
      test: 'a question that names the run it follows begins a branch after it, which is shown, once for each run id',
    },
  },
  {
    name: 'a chat forgets the edit that waits',
    source: {
      'src/doors/chat/handler.ts': [
        ['thread?.activeRunId ? await lanefold.threads.waitingBranch(threadId) : undefined', 'undefined'],
      ],
    },
    caughtBy: {
      file: 'test/chat/waiting-branch.test.ts',
      test: 'over HTTP, an edit that waits for the active run is what a page shows that is loaded again, and whose answer each resumed stream has',
    },
  },
  {
    name: 'the event of a circuit does not say why it is open',
    sql: { _tell_circuit: [["'reason', c.reason,", "'reason', null::text,"]] },
    caughtBy: {
      file: 'test/circuits/acts.test.ts',
      test: 'the circuit of a model that is opened and closed is one event each, for the endpoints of the operator alone',
    },
  },
  {
    name: 'requests that a provider refuses open its circuit',
    source: {
      'src/agent/models/failure.ts': [
        ["invalid: { retryable: false, circuit: 'ok' }", "invalid: { retryable: false, circuit: 'overloaded' }"],
      ],
    },
    caughtBy: {
      file: 'test/circuits/acts.test.ts',
      test: 'the circuit of a model counts HTTP 400, and is closed after three',
    },
  },
  {
    name: 'a probe that fails costs its run a retry',
    source: {
      'src/worker/run/call-model.ts': [
        ['if (deferred && !mayPass(command, failed)) throw deferred;', 'void deferred;'],
      ],
    },
    caughtBy: {
      file: 'test/circuits/outage.test.ts',
      test: 'an outage of a provider, with two workers its runs wait without a worker and end once it is over',
    },
  },
  // branches
  {
    name: 'the end of a run leaves the branch hidden that waits for it',
    sql: { _after_last_step: [['t.pending_branch is not null or t.waiting_runs', 't.waiting_runs']] },
    caughtBy: { file: 'test/branches/branch.test.ts', test: 'while a run is active a branch without a run interrupts' },
  },
  {
    name: 'a branch leaves a lane before that one began',
    sql: { _branch_point: [['exit when l.branch_seq is null or l.branch_seq <= after_seq;', 'exit when true;']] },
    caughtBy: {
      file: 'test/branches/branch.test.ts',
      test: 'a branch of a branch has the messages of the lanes before it, wherever it leaves them',
    },
  },
  {
    name: 'a key of a branch is taken for another branch',
    sql: { _branched_before: [["if found and o.hash <> coalesce(p ->> 'hash', '') then", 'if false then']] },
    caughtBy: { file: 'test/branches/branch.test.ts', test: 'a branch is made once for each key' },
  },
  {
    name: 'a setting of a lane comes back on its branch, though the thread has another one since',
    sql: { _lane_settings: [['and w.seq > c.seq));', 'and false));']] },
    caughtBy: {
      file: 'test/branches/branch.test.ts',
      test: 'a branch has the settings of its lane as they were, and those of the thread as they are',
    },
  },
  {
    name: 'a chat shows the run of a question whose answer is on another branch',
    source: {
      'src/database/store/log/read-conversation.ts': [
        ['n < parts.length - 1 ? withoutLast(part) : part.runs', 'part.runs'],
      ],
    },
    caughtBy: {
      file: 'test/branches/runs.test.ts',
      test: 'a conversation that branches a question is edited, an answer is given again, and each branch goes its own way',
    },
  },
  // work for a bounded time
  {
    name: 'a worker waits for a run whose time has not come',
    source: {
      'src/database/store/run/has-due-run.ts': [[' and ready_at <= (select at from clock)', '']],
    },
    caughtBy: {
      file: 'test/runtime/worker/work.test.ts',
      test: 'work for a bounded time does what is due, and leaves what waits for a person, a limit or a time',
    },
  },
  {
    name: 'a worker waits for a run that waits for a limit',
    source: { 'src/database/store/run/has-due-run.ts': [[' and limited_by is null', '']] },
    caughtBy: {
      file: 'test/runtime/worker/work.test.ts',
      test: 'work for a bounded time does what is due, and leaves what waits for a person, a limit or a time',
    },
  },
  {
    name: 'no worker looks for runs whose circuit was closed while none was there',
    source: {
      'src/features/circuits/worker/part.ts': [['{ everyMs: 60_000, work: () => watch.findLeft() }, ', '']],
    },
    caughtBy: {
      file: 'test/simulation/bounded/bounded.test.ts',
      test: 'a simulation of all rooms with workers for a bounded time contradicts no promise (seed 21)',
    },
  },
  {
    name: 'a worker says that nothing is due while runs wait for one',
    source: {
      'src/worker/process/idle.ts': [['isBusy() || (await isDue())', 'isBusy()']],
    },
    caughtBy: {
      file: 'test/simulation/bounded/bounded.test.ts',
      test: 'a simulation of all rooms with workers for a bounded time contradicts no promise (seed 6)',
    },
  },
  {
    name: 'runs have all of the time to end, after it is over',
    source: {
      'src/worker/process/work.ts': [['stopGraceMs: graceMs,', 'stopGraceMs: maxMs,']],
    },
    caughtBy: {
      file: 'test/simulation/bounded/bounded.test.ts',
      test: 'a simulation of all rooms with workers for a bounded time contradicts no promise (seed 3)',
    },
  },
  {
    name: 'any signature lets a caller have the server work',
    source: { 'src/server/access/signed-work.ts': [['    return false;', '    return true;']] },
    caughtBy: { file: 'test/api/work.test.ts', test: 'POST /v1/work refuses a signature by another secret' },
  },
];
