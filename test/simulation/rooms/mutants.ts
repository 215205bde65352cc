import type { Mutant } from '../../history/mutants/mutants.ts';

/** Changes that break a promise of one room. */
export const mutants: readonly Mutant[] = [
  {
    name: 'a claim does not ask which version its run wants',
    caughtBy: 'a-run-is-held-by-a-worker-that-has-its-agent',
    sql: { _claim_run: [['  if v_version is not null then\n', '  if false then\n']] },
  },
  {
    name: 'a run forgets the version that it is pinned to',
    caughtBy: 'a-pinned-run-keeps-its-version',
    sql: {
      _wanted_version: [
        [
          `case when jsonb_typeof(p_options -> 'pinned') = 'string' then p_options ->> 'pinned' else p_options ->> 'version' end`,
          `p_options ->> 'version'`,
        ],
      ],
    },
  },
  {
    name: 'the end of a run leaves its waits open',
    caughtBy: 'an-ended-run-waits-for-nothing',
    sql: { _leave_waits: [["run_id = p_run_id and status = 'open';", "run_id = p_run_id and status = 'never';"]] },
  },
  {
    name: 'a run whose last wait has ended stays suspended',
    caughtBy: 'a-suspended-run-waits',
    sql: { _go_on: [['if v_open > 0 then', 'if v_open >= 0 then']] },
  },
  {
    name: 'the task of a wait is never done',
    caughtBy: 'every-task-is-done',
    sql: { end_wait_task: [['set task = null', 'set task = task']] },
  },
  {
    name: 'a run that is handed over keeps its agent',
    caughtBy: 'the-agent-is-the-last-one',
    sql: { _hand_over: [["set agent = p ->> 'agent'", 'set agent = agent']] },
  },
  {
    name: 'a handoff is not in the trace',
    caughtBy: 'a-handoff-is-in-the-trace',
    sql: { _commit_step: [["'k', 'handed_over'", "'k', 'handed_on'"]] },
  },
];
