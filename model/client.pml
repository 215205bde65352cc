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
#ifndef CALLER
  run Keeper();
#endif
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
  :: d_step { append_at_rev(0); traced(TRACE_APPEND, 0, 0) } /* append_entries, on another lane */
  :: send_input()
#endif
  fi;
}
