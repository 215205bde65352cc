/*
 * What callers ask for: enqueue_run, cancel_run and enqueue_input.
 *
 * Each inline is called inside a d_step: one transaction that holds the lock of the thread.
 */

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
