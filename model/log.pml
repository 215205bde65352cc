/*
 * The log: append_entries, and _drain_inputs of db/sql/input.
 *
 * Each inline is called inside a d_step: one transaction that holds the lock of the thread.
 */

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
