/*
 * A run whose tool call waits for a child run on another thread: db/sql/wait and src/worker/waits. Run 0 is the parent,
 * run 1 its child. The two threads are written in different transactions, so each message between them can be repeated.
 */
#ifdef CHILD
mtype:wait = { no_wait, open, resolved, abandoned };
mtype:task = { no_task, to_start, to_cancel };

mtype:wait wait = no_wait;  /* of the tool call */
mtype:task task = no_task;  /* what the wait wants of a worker */
bool child_has_ended;       /* child_ended_at: the parent's thread knows */
bool untold;                /* the child has ended, and told_at is not set */

/* At the end of a run: its open wait is over, and a run that did not complete takes its child with it. */
inline leave_waits(r, how) {
  if
  :: r == 0 && wait != no_wait ->
     wait = (wait == open -> abandoned : wait);
     task = (wait == abandoned -> no_task : task);
     task = (how != completed && !child_has_ended -> to_cancel : task)
  :: else
  fi
}

/* At the end of a child: its parent is to be told. */
inline leave_parent(r) {
  untold = untold || r == 1
}

/* record_tool_call with a wait: the call of the parent waits for a run that a worker has to start. */
inline record_wait(r) {
  none_next;
  if
  :: run_[r].lease != lease || run_[r].status != running -> answer = not_held
  :: else ->
     unchanged_after_end(r);
     if
     :: wait == no_wait -> wait = open; task = to_start; traced(TRACE_WAIT, r, 0)
     :: else
     fi;
     run_[r].lease_over = false;
     answer = applied
  fi
}

/* _resume_if_ready: a suspended run is queued again once nothing is open. */
inline go_on() {
  if
  :: run_[0].status == suspended && wait != open ->
     run_[0].status = queued;
     run_[0].enqueue_no++;
     traced(TRACE_GO_ON, 0, run_[0].enqueue_no);
     next = 0;
     next_no = run_[0].enqueue_no
  :: else -> none_next
  fi
}

/* suspend_run: a step that gives up the lease. */
inline suspend_run(r) {
  none_next;
  if
  :: run_[r].lease != lease || (run_[r].status != running && step >= run_[r].step) -> answer = not_held
  :: run_[r].lease == lease && step < run_[r].step -> answer = duplicate
  :: run_[r].lease == lease && run_[r].status == running && run_[r].cancel -> answer = refused
  :: else ->
     unchanged_after_end(r);
     run_[r].status = suspended;
     run_[r].step++;
     run_[r].claims = 0;
     run_[r].lease_over = false;
     traced(TRACE_SUSPEND, r, run_[r].step);
     if
     :: suspends_blindly
     :: else -> go_on()
     fi;
     answer = applied
  fi
}

/* end_child: the parent's call has the answer of the child, and the parent continues. */
inline end_child() {
  none_next;
  if
  :: is_open ->
     holds(a_parent_is_told_once, wait == open);
     wait = resolved;
     traced(TRACE_RESOLVE, 0, 0);
     go_on()
  :: else
  fi;
  child_has_ended = true;
  task = no_task
}
#else
#define leave_waits(r, how)
#define leave_parent(r)
#endif
