/* The callers, through API processes. Such a process may crash before it has added a job, or before it has answered. */

/* Input for the active run. The caller is told that it is queued once it is stored. */
inline send_input() {
#ifdef TOLD_BEFORE_STORED
  input_told = true;
  if
  :: d_step { enqueue_input(0) }
  :: atomic { may_fail -> faults++ }
  fi
#else
  atomic {
    d_step { enqueue_input(0) };
    input_told = (answer == applied);
    answer = 0
  }
#endif
}

proctype Client() {
  byte next = NONE, next_no;

#ifdef CHILD
  run Keeper();
  run Keeper();
#endif
#ifdef LIMIT
  run LimitSweep();
#endif
#ifdef BATCH
  run Batch();
#endif

  atomic { d_step { enqueue_run(0) }; run_told[0] = true; dispatch() };
#ifdef CALLER
  run Caller();
#endif
#ifndef CHILD
  atomic { d_step { enqueue_run(1) }; run_told[1] = true; dispatch() }
#endif
}

/* Another caller does one thing at some moment, or nothing. */
proctype Caller() {
  mtype:reply answer;
  byte next = NONE, next_no;

  if
  :: skip
  :: atomic { d_step { cancel_run(0) }; dispatch() }
  :: atomic { d_step { cancel_run(1) }; dispatch() }
#ifdef LANE
  :: d_step { append_at_rev(0) } /* append_entries, on another lane */
  :: send_input()
#endif
  fi;
}

/* When nobody can do anything any more, everything has to be done. */
proctype AtRest() {
end:
  timeout ->
  holds(every_accepted_run_has_ended, !run_told[0] || run_[0].ended || counts_too_much);
  holds(every_accepted_run_has_ended, !run_told[1] || run_[1].ended || counts_too_much);
  holds(acknowledged_is_stored, !input_told || input == injected || input == dropped);
  holds(input_is_in_the_log_once, input != injected || input_logged);
#ifdef CHILD
  holds(a_parent_is_told_once, run_[0].status != completed || wait == resolved);
  holds(a_parent_is_told_once, !untold && task == no_task);
#endif
#ifdef LIMIT
  holds(reservations_are_conserved, bucket == settled_in_all && ((!account[0].in_line && !account[1].in_line) || reopened));
  holds(usage_is_settled_once, settled_in_all == spent(0) + spent(1) || (reopened && settled_in_all > spent(0) + spent(1)));
#endif
}
