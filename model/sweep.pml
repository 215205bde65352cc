/*
 * The sweep of src/worker/process/sweep.ts: looks for runs without a job and gives them one, and ends cancelled runs
 * that did not stop in time. It looks without a lock, so what it saw may have changed when it acts.
 */

/* Adds the job that an answer of the database names. The process may crash before it does. */
inline dispatch() {
  if
  :: next == NONE
  :: next != NONE -> add(jobs[next], next_no)
  :: next != NONE && may_fail -> faults++
  fi;
  none_next
}

proctype Sweep() {
  mtype:reply answer;
  byte r, no, next = NONE, next_no;

end:
idle:
  if
  :: atomic { lost_job(0) -> r = 0; no = run_[0].enqueue_no; goto queue_again }
  :: atomic { lost_job(1) -> r = 1; no = run_[1].enqueue_no; goto queue_again }
  :: atomic { run_[0].status == running && run_[0].cancel -> r = 0; goto finish }
  :: atomic { run_[1].status == running && run_[1].cancel -> r = 1; goto finish }
  fi;
queue_again:
  atomic { d_step { queue_run_again(r, no) }; dispatch(); r = 0; no = 0; goto idle };
finish:
  atomic { d_step { finish_run(r, 0, cancelled) }; dispatch(); answer = 0; r = 0; goto idle }
}

#ifdef LIMIT
/* sweepLimits: settles ended runs, wakes delayed runs that are not in line, and lets those in line continue. */
proctype LimitSweep() {
  mtype:reply answer;
end:
  do
  :: d_step { account[0].exists && run_[0].ended -> close_account(0, spent(0)) }
  :: d_step { account[1].exists && run_[1].ended -> close_account(1, spent(1)) }
  :: d_step { unlined(0) && !lining_up[0] -> wake(0) }
  :: d_step { unlined(1) && !lining_up[1] -> wake(1) }
  :: d_step { unlined(0) && lining_up[0] && may_fail -> faults++; wake(0) }
  :: d_step { unlined(1) && lining_up[1] && may_fail -> faults++; wake(1) }
  :: atomic { may_go_on(0) -> d_step { let_go_on(0) }; wake_or_crash(0) }
  :: atomic { may_go_on(1) -> d_step { let_go_on(1) }; wake_or_crash(1) }
  od
}
#endif
