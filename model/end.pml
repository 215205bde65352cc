/*
 * The end of a run: finish_run, _after_finish and _promote_next_run of db/sql/run.
 *
 * Each inline is called inside a d_step: one transaction that holds the lock of the thread.
 */

#define is_active(r) (run_[r].status == queued || run_[r].status == running || run_[r].status == suspended)

/* _promoted: the job of the active run of the thread, if no worker holds it yet. */
inline job_to_add(t) {
  if
  :: thread[t].active_run != NONE && run_[thread[t].active_run].status == queued ->
     next = thread[t].active_run;
     next_no = run_[next].enqueue_no
  :: else -> none_next
  fi
}

/* _promote_next_run: the run that waits becomes the active one. */
inline promote_next_run(r) {
#ifdef LANE
  if
  :: is_waiting(OTHER(r)) ->
     holds(a_waiting_run_is_promoted_once, !run_[OTHER(r)].promoted);
     holds(one_run_is_active_on_a_thread, thread[THREAD(r)].active_run == NONE && !is_active(r));
     run_[OTHER(r)].promoted = true;
     run_[OTHER(r)].status = queued;
     run_[OTHER(r)].enqueue_no++;
     thread[THREAD(r)].active_run = OTHER(r);
     traced(TRACE_PROMOTE, OTHER(r), run_[OTHER(r)].enqueue_no)
  :: else
  fi;
#endif
  job_to_add(THREAD(r))
}

/* The end of a run, as _complete_run and _after_finish write it. A cancel that was recorded before it wins. */
inline end_run(r, how) {
  was_ = run_[r].status;
  how_ = end_of(r, how);
  holds(a_run_ends_once, !run_[r].ended);
  holds(a_recorded_cancel_wins, !run_[r].cancel || how_ == cancelled);
  holds(input_is_in_the_log_once, how_ != completed || !run_[r].input);
  run_[r].ended = true;
  run_[r].status = how_;
  run_[r].lease_over = false;
  run_[r].grace = false;
  run_[r].delayed = false;
  traced(TRACE_END, r, end_value(how_));
  if
  :: run_[r].input -> run_[r].input = false; input = dropped
  :: else
  fi;
  leave_waits(r, how_);
  leave_parent(r);
  if
  :: was_ == waiting -> none_next
  :: else ->
     thread[THREAD(r)].active_run = NONE;
#ifdef PROMOTED_LATER
     none_next /* the worker promotes, in a transaction of its own */
#else
     promote_next_run(r)
#endif
  fi
}

/* finish_run: by the worker that holds `p_lease`, or by any process (0) if no worker can. */
inline finish_run(r, p_lease, how) {
  none_next;
  if
  :: has_ended(r) -> answer = duplicate; job_to_add(THREAD(r))
  :: !has_ended(r) && p_lease != 0 && !(has_lease(r, p_lease) && is_held(r)) -> answer = not_held
  :: else -> end_run(r, how); answer = applied
  fi
}
