#ifdef CHILD
/*
 * Does what waits want, and tells parents: the worker that caused it at once, and any other one that looks. It remembers
 * nothing, so whatever it leaves out, it finds again.
 */
proctype Keeper() {
  mtype:reply answer;
  byte next = NONE, next_no;
end:
  do
  :: task == to_start ->
     atomic { d_step { enqueue_run(1) }; run_told[1] = true; dispatch() };
     if
     :: d_step { task == to_start -> task = no_task }
     :: atomic { task != to_start && wait != abandoned }
     :: atomic { task != to_start && wait == abandoned -> d_step { cancel_run(1) }; dispatch() }
     :: atomic { may_fail -> faults++ }
     fi
  :: atomic { task == to_cancel && run_[1].status != absent -> d_step { cancel_run(1) }; dispatch() };
     if
     :: d_step { task == to_cancel -> task = no_task }
     :: task != to_cancel
     :: atomic { may_fail -> faults++ }
     fi
  /* The child was never started, or a worker is very late with it and will find that it is not wanted. */
  :: atomic { task == to_cancel && run_[1].status == absent -> d_step { end_child() }; dispatch() }
  :: d_step { untold && marks_first -> untold = false };
     if
     :: atomic { d_step { end_child() }; dispatch() }
     :: atomic { may_fail -> faults++ }
     fi
  :: atomic { untold && !marks_first -> d_step { end_child() }; dispatch() };
     if
     :: untold = false
     :: atomic { may_fail -> faults++ }
     fi
  od
}
#endif
