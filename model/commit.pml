/*
 * A step: commit_step of db/sql/run.
 *
 * Each inline is called inside a d_step: one transaction that holds the lock of the thread.
 */

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
