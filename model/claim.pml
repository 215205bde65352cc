/*
 * How a worker gets a run and gives it back: claim_run, release_run and queue_run_again of db/sql/run.
 *
 * Each inline is called inside a d_step: one transaction that holds the lock of the thread.
 */

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

/* queue_run_again: a new number for the job `no`, which the queue has lost. */
inline queue_run_again(r, no) {
  none_next;
  if
  :: run_[r].enqueue_no == no && (run_[r].status == queued || (run_[r].status == running && run_[r].lease_over)) ->
     unchanged_after_end(r);
     run_[r].enqueue_no++;
     run_[r].grace = (run_[r].status == running);
     holds(nothing_overflows, run_[r].enqueue_no < 8);
     traced(TRACE_QUEUE_AGAIN, r, run_[r].enqueue_no);
     next = r;
     next_no = run_[r].enqueue_no
  :: else
  fi
}
