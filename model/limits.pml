/*
 * A limit on cost that two runs share: use_limits of db/sql/limit, and how src/runs/limiter calls it. A call reserves
 * what it may cost before it is made and is settled with what it did cost. Each use is a transaction of its own beside
 * those of the threads. A run that is refused waits in line, and the process that returns something lets it continue.
 */
#ifdef LIMIT
#define CAPACITY 3
#define RESERVED 2 /* by each call */
#define COST 1     /* of each answered call */

byte bucket;         /* what is reserved and what was settled */
byte settled_in_all; /* ghost */

typedef Account {
  bool exists;
  byte reserved;
  byte settled;
  bool in_line;
  bool granted          /* it may continue, and passes ahead of the line */
};
Account account[2];

/* What the log says that the run has used. */
#define spent(r) (run_[r].step > 0 -> COST : 0)
#define fits (bucket + RESERVED <= CAPACITY)
#define line_is_empty (!account[0].in_line && !account[1].in_line)
#define may_go_on(r) (account[r].in_line && fits)

/*
 * An account that is closed forgets what was settled. A process that is late, and opens it again after the end of its
 * run, has all of that settled a second time: the limit then counts too much, never too little.
 */
bool reopened; /* ghost */
#define counts_too_much reopened
inline open_account(r) {
  reopened = reopened || (run_[r].ended && !account[r].exists);
  account[r].exists = true
}

inline conserved() {
  holds(reservations_are_conserved, bucket == settled_in_all + account[0].reserved + account[1].reserved)
}

/* What is reserved returns, and what the run used by now is settled: the difference to what was settled before. */
inline return_reservation(r, used) {
  bucket = bucket - account[r].reserved + used - account[r].settled;
  settled_in_all = settled_in_all + used - account[r].settled;
  account[r].settled = used;
  account[r].reserved = reserved_after_return(r)
}

inline take_room(r) {
  bucket = bucket + RESERVED;
  open_account(r);
  account[r].reserved = account[r].reserved + RESERVED;
  account[r].in_line = false
}

/* Before a call. The first one of a later claim (`base`) returns what the earlier claim had reserved. */
inline take_limit(r, base) {
  if
  :: base -> open_account(r); return_reservation(r, spent(r))
  :: else
  fi;
  if
  :: fits && (account[r].granted || line_is_empty) -> take_room(r); answer = applied
  :: else -> answer = refused
  fi;
  account[r].granted = (answer == refused && account[r].granted);
  conserved()
}

/* The run was refused and its job is delayed: it gets in line, unless there is room by now. */
inline get_in_line(r) {
  open_account(r);
  return_reservation(r, account[r].settled);
  if
  :: fits && (account[r].granted || line_is_empty) -> take_room(r); account[r].granted = true; answer = applied
  :: else -> account[r].in_line = true; account[r].granted = false; answer = refused
  fi;
  conserved()
}

/* Its turn has come, as another answer said. */
inline let_go_on(r) {
  if
  :: may_go_on(r) -> take_room(r); account[r].granted = true; answer = applied
  :: else -> answer = refused
  fi;
  conserved()
}

/* The run has ended, and has used this. */
inline close_account(r, used) {
  if
  :: account[r].exists ->
     return_reservation(r, used);
     account[r].exists = false;
     account[r].settled = 0;
     account[r].reserved = 0;
     account[r].in_line = false;
     account[r].granted = false
  :: else
  fi;
  conserved()
}

/* Delayed for a while, and not in line: the worker died before it put the run there, or is very slow. */
bool lining_up[2]; /* ghost */
#define unlined(r) (run_[r].status == queued && run_[r].delayed && !account[r].in_line && has(later[r], run_[r].enqueue_no))

/* The job of a delayed run becomes a waiting one. */
inline wake(r) {
  if
  :: has(later[r], run_[r].enqueue_no) -> remove(later[r], run_[r].enqueue_no); add(jobs[r], run_[r].enqueue_no)
  :: else
  fi
}

/* delay_run: the worker gives the run back until the limit lets it continue. */
inline delay_run(r) {
  none_next;
  if
  :: run_[r].lease != lease || run_[r].status != running -> answer = not_held
  :: run_[r].lease == lease && run_[r].status == running && run_[r].cancel -> answer = refused
  :: else ->
     unchanged_after_end(r);
     run_[r].status = queued;
     run_[r].delayed = true;
     lining_up[r] = true;
     run_[r].lease_over = false;
     run_[r].claims = (run_[r].claims > 0 -> run_[r].claims - 1 : 0);
     answer = applied
  fi
}

inline wake_or_crash(r) {
  if
  :: wake(r)
  :: may_fail -> faults++
  fi
}
#else
#define counts_too_much false
#endif
