/*
 * The functions of db/sql/run. Each inline is called inside a d_step: one transaction that holds the lock of the thread.
 * They answer in the variables of the caller: `answer`, and `next` with `next_no`, the job that the caller has to add.
 */

#define is_active(r) (run_[r].status == queued || run_[r].status == running || run_[r].status == suspended)

/* Inserts an entry at `seq_`. */
inline append(t) {
  holds(seq_has_no_gap_and_no_repeat, seq_ == thread[t].entries);
  thread[t].entries++;
  thread[t].rev = seq_ + 1
}

inline append_at_rev(t) {
  seq_ = thread[t].rev;
  append(t)
}

/* _drain_inputs: queued input becomes a message, before the next model call. */
inline drain_inputs(r) {
  if
  :: run_[r].input ->
     append_at_rev(THREAD(r));
     holds(input_is_in_the_log_once, !input_logged);
     input_logged = true;
     run_[r].input = false;
     input = injected
  :: else
  fi
}

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
  :: run_[OTHER(r)].status == waiting ->
     holds(one_run_is_active_on_a_thread, thread[THREAD(r)].active_run == NONE && !is_active(r));
     holds(a_waiting_run_is_promoted_once, !run_[OTHER(r)].promoted);
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
     none_next
#else
     promote_next_run(r)
#endif
  fi
}

/* claim_run, for the job `no`. The first claim writes the user message, and input that was queued before. */
inline claim_run(me, r, no) {
  none_next;
  answer = refused;
  if
  :: run_[r].enqueue_no == no && (run_[r].status == queued || (run_[r].status == running && may_take_over(r))) ->
     if
     :: run_[r].claims >= MAX_CLAIMS -> end_run(r, failed)
     :: else ->
        unchanged_after_end(r);
        holds(a_held_run_is_not_taken, run_[r].status != running || !run_[r].held || run_[r].lease_over);
        fresh = !run_[r].started;
        if
        :: fresh ->
           append_at_rev(THREAD(r));
           run_[r].started = true;
           drain_inputs(r)
        :: else
        fi;
        run_[r].status = running;
        raise_lease(r);
        holds(nothing_overflows, run_[r].lease < 255);
        run_[r].lease_over = false;
        run_[r].grace = false;
        run_[r].delayed = false;
        run_[r].claims++;
        run_[r].holder = me;
        run_[r].held = true;
        lease = run_[r].lease;
        step = run_[r].step;
        traced(TRACE_CLAIM, r, lease);
        answer = applied
     fi
  :: else ->
     if
     :: run_[r].ended -> job_to_add(THREAD(r))
     :: else
     fi
  fi
}

/* commit_step, under `lease` and at `step`; `last`: it carries `finish`. */
inline commit_step(me, r, last) {
  none_next;
  if
  :: !has_lease(r, lease) || (!is_held(r) && !is_repeat(r, step)) -> answer = not_held
  :: has_lease(r, lease) && is_repeat(r, step) ->
     answer = duplicate;
     if
     :: run_[r].ended -> job_to_add(THREAD(r))
     :: else
     fi
  :: else ->
     unchanged_after_end(r);
     holds(only_the_holder_commits, run_[r].holder == me);
     holds(a_step_is_written_once, !has(run_[r].written, step));
     add(run_[r].written, step);
#ifdef READ_BEFORE_THE_LOCK
     seq_ = read_early;
#else
     seq_ = thread[THREAD(r)].rev;
#endif
     append(THREAD(r));
     run_[r].step++;
     run_[r].claims = 0;
     run_[r].lease_over = false;
     run_[r].grace = false;
     traced(TRACE_COMMIT, r, run_[r].step);
     if
     :: last && !goes_on(r) -> end_run(r, completed); answer = applied
     :: else ->
        answer = (last -> continued : applied);
        if
        :: !run_[r].cancel -> drain_inputs(r)
        :: else
        fi
     fi
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

/* release_run: the worker gives the run back; the next one need not wait for the lease. */
inline release_run(r) {
  none_next;
  if
  :: run_[r].lease == lease && run_[r].status == running ->
     unchanged_after_end(r);
     run_[r].status = queued;
     run_[r].enqueue_no++;
     run_[r].lease_over = false;
     run_[r].grace = false;
     traced(TRACE_RELEASE, r, run_[r].enqueue_no);
     next = r;
     next_no = run_[r].enqueue_no
  :: else
  fi
}

/* requeue_run: a new number for the job `no`, which the queue has lost. */
inline requeue_run(r, no) {
  none_next;
  if
  :: run_[r].enqueue_no == no && (run_[r].status == queued || (run_[r].status == running && run_[r].lease_over)) ->
     unchanged_after_end(r);
     run_[r].enqueue_no++;
     run_[r].grace = (run_[r].status == running);
     holds(nothing_overflows, run_[r].enqueue_no < 8);
     traced(TRACE_REQUEUE, r, run_[r].enqueue_no);
     next = r;
     next_no = run_[r].enqueue_no
  :: else
  fi
}

/* cancel_run: a running run is left to its worker, any other ends here. */
inline cancel_run(r) {
  none_next;
  if
  :: run_[r].status != absent && !run_[r].ended ->
     run_[r].cancel = true;
     traced(TRACE_CANCEL, r, 0);
     if
     :: run_[r].status != running -> finish_run(r, 0, cancelled)
     :: else
     fi
  :: else
  fi
}

/* enqueue_run. Repeating it changes nothing. On a busy thread the run waits. */
inline enqueue_run(r) {
  none_next;
  if
  :: run_[r].status == absent && thread[THREAD(r)].active_run == NONE ->
     run_[r].status = queued;
     run_[r].enqueue_no = 1;
     thread[THREAD(r)].active_run = r;
     traced(TRACE_ENQUEUE, r, 1);
     next = r;
     next_no = 1
  :: run_[r].status == absent && thread[THREAD(r)].active_run != NONE ->
     run_[r].status = waiting;
     traced(TRACE_ENQUEUE, r, 0)
  :: else
  fi
}

/* enqueue_input: for the active run, unless it is sealed; a cancel seals. */
inline enqueue_input(t) {
  if
  :: thread[t].active_run != NONE && !run_[thread[t].active_run].cancel ->
     input_run = thread[t].active_run;
     run_[input_run].input = true;
     input = stored;
     traced(TRACE_INPUT, input_run, 0);
     answer = applied
  :: else -> answer = refused
  fi
}
