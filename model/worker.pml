/*
 * A worker process: takes a job, claims its run, commits steps until the run ends. It may crash between any two steps;
 * the process that replaces it remembers nothing.
 */

/* The worker no longer has the run in memory. */
#define forget(r) run_[r].held = run_[r].held && (run_[r].holder != me || run_[r].lease != lease)

/* The first idle worker takes a job: which of two equal workers it is makes no difference. */
bool busy[WORKERS];
#define is_next(me) (!busy[me] && (me == 0 || busy[0]))

proctype Worker(byte me) {
  mtype:reply answer;
  byte r, no, lease, step, next = NONE, next_no;
  bool fresh;
#ifdef READ_BEFORE_THE_LOCK
  byte read_early;
#endif

end:
idle:
  if
  :: atomic { is_next(me) && jobs[0] != 0 -> r = 0; take_job(r, no); busy[me] = true }
  :: atomic { is_next(me) && jobs[1] != 0 -> r = 1; take_job(r, no); busy[me] = true }
  fi;

  if
  :: atomic {
       d_step { claim_run(me, r, no) };
       if
       :: answer == refused -> goto refused_claim
       :: else -> answer = 0
       fi
     }
  :: atomic { may_fail -> faults++; goto crash }
  fi;

#ifdef LIMIT
  goto reserve;
#else
  goto hold;
#endif

refused_claim:
#ifdef LIMIT
  /* The account of a run that has ended is closed, in case the process died that ended it. */
  if
  :: atomic { run_[r].ended -> d_step { close_account(r, used_when_refused(r)) }; goto leave }
  :: else -> goto leave
  fi;
#else
  goto leave;
#endif

#ifdef LIMIT
  /* Before its call, it reserves what that may cost, or waits for the limit without a worker. */
reserve:
  if
  :: atomic { d_step { take_limit(r, !fresh) }; goto reserved }
  :: atomic { run_[r].lease_over || run_[r].lease != lease -> goto leave }
  :: atomic { may_fail -> faults++; goto crash }
  fi;
reserved:
  atomic {
    if
    :: answer == applied -> answer = 0; goto hold
    :: answer == applied && may_fail -> faults++; d_step { release_run(r) }; goto leave /* the answer was lost */
    :: answer == refused -> answer = 0
    fi
  };
  if
  :: atomic { d_step { delay_run(r) };
       if
       :: answer == applied -> goto delay
       :: answer == refused -> d_step { finish_run(r, lease, cancelled) }; goto leave
       :: answer == not_held -> goto leave
       fi
     }
  :: atomic { may_fail -> faults++; goto crash }
  fi;
delay:
  if
  :: atomic { remove(taken[r], no); add(later[r], no); goto delayed }
  :: atomic { may_fail -> faults++; lining_up[r] = false; goto crash }
  fi;
delayed:
  if
  :: atomic { d_step { get_in_line(r) };
       if
       :: answer == applied -> wake(r)
       :: answer == refused
       fi;
       lining_up[r] = false;
       goto reset
     }
  :: atomic { may_fail -> faults++; lining_up[r] = false; goto reset }
  fi;
#endif

hold:
#ifdef READ_BEFORE_THE_LOCK
  read_early = thread[THREAD(r)].rev;
#endif
  if
#ifdef BATCH
  :: atomic { leave_step(me); goto sent }
#else
  /* It commits a step, the last one or not. */
  :: atomic { may_commit(r) -> d_step { commit_step(me, r, false) }; goto committed }
  :: atomic { may_end(r) -> d_step { commit_step(me, r, true) }; goto committed }
#endif
#ifdef CHILD
  :: atomic { r == 0 && step == 1 && wait == no_wait -> d_step { record_wait(r) }; goto committed }
  :: atomic { r == 0 && step == 1 && wait != no_wait -> d_step { suspend_run(r) }; goto suspended_ }
#endif
  /* It has learned of a cancel. */
  :: atomic { run_[r].cancel -> d_step { finish_run(r, lease, cancelled) }; goto ended }
  /* It finds that its lease is over, and drops the run. */
  :: atomic { run_[r].lease_over || run_[r].lease != lease -> goto leave }
  /* It stops, and gives the run back. */
  :: atomic { may_fail -> faults++; d_step { release_run(r) }; goto leave }
  :: atomic { may_fail -> faults++; goto crash }
  fi;

#ifdef BATCH
sent:
  if
  :: atomic {
       reply[me] != 0 -> answer = reply[me]; reply[me] = 0;
       holds(acknowledged_is_stored, answer == not_held || has(run_[r].written, step));
       goto committed
     }
  :: atomic { may_fail -> faults++; item[me].there = false; reply[me] = 0; goto crash }
  fi;
#endif

committed:
  atomic {
    if
    :: answer != not_held && may_fail -> faults++; answer = 0; none_next; goto hold /* the answer is lost: again, with the same step */
    :: answer != not_held && !run_[r].ended -> step = run_[r].step; answer = 0; none_next; goto hold
    :: answer == not_held -> goto leave
    :: answer != not_held && run_[r].ended -> goto ended
    fi
  };

#ifdef CHILD
suspended_:
  atomic {
    if
    :: answer == refused -> answer = 0; goto hold
    :: else -> goto leave
    fi
  };
#endif

ended:
#if defined(PROMOTED_LATER) || defined(PROMOTES_AGAIN)
  if
  :: !run_[r].ended
  :: d_step { run_[r].ended -> promote_next_run(r) }
  :: atomic { run_[r].ended && may_fail -> faults++; goto crash }
  fi;
#endif
#ifdef LIMIT
  /* The run has ended: its account is closed, and the other run continues if it waits for that. */
  if
  :: !run_[r].ended -> goto leave
  :: atomic { run_[r].ended -> d_step { close_account(r, spent(r)) }; goto let_go }
  :: atomic { may_fail -> faults++; goto leave }
  fi;
let_go:
  if
  :: atomic { may_go_on(OTHER(r)) -> d_step { let_go_on(OTHER(r)) }; if :: answer == applied -> wake_or_crash(OTHER(r)) :: else fi; goto leave }
  :: atomic { !may_go_on(OTHER(r)) -> goto leave }
  fi;
#endif

  /* Adds the job of the run that continues next, and completes its own. */
leave:
  if
  :: d_step { next != NONE -> add(jobs[next], next_no) }
  :: next == NONE
  :: atomic { next != NONE && may_fail -> faults++; goto crash }
  fi;
  atomic { remove(taken[r], no); goto reset };

  /* The queue may hand out its job again. */
crash:
  if
  :: atomic { remove(taken[r], no); add(jobs[r], no) }
  :: remove(taken[r], no)
  fi;

reset:
  atomic {
    forget(r);
    none_next;
    r = 0; no = 0; lease = 0; step = 0; fresh = false; answer = 0;
    busy[me] = false;
    goto idle
  }
}
