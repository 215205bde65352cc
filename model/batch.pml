/*
 * Group commit: db/sql/batch/attempt_all.sql. The workers of one process leave their steps here, and one transaction
 * writes what is there: all of it, or after a broken connection nothing. Each step is fenced and answered by itself.
 */
#ifdef BATCH
typedef Item {
  bool there;
  byte run_no;
  byte lease;
  byte step
};
Item item[WORKERS];
mtype:reply reply[WORKERS];

#define leave_step(me) \
  item[me].run_no = r; item[me].lease = lease; item[me].step = step; item[me].there = true

/* Whether an item of the batch raises an error. */
#define item_fails(w) (item[w].there && (run_[item[w].run_no].lease != item[w].lease || \
  (run_[item[w].run_no].status != running && item[w].step >= run_[item[w].run_no].step)))

inline write_item(w) {
  if
  :: item[w].there ->
     r = item[w].run_no;
     lease = item[w].lease;
     step = item[w].step;
     if
     :: undoes_all && item_fails(OTHER(w)) -> answer = applied
     :: else -> commit_step(w, r, (step + 1 == STEPS))
     fi;
     if
     :: answered -> reply[w] = answer; item[w].there = false
     :: else
     fi;
     r = 0; lease = 0; step = 0; answer = 0; none_next
  :: else
  fi
}

proctype Batch() {
  mtype:reply answer;
  byte r, lease, step, next = NONE, next_no;
  bool answered;
end:
  do
  :: d_step { item[0].there || item[1].there -> answered = true; new_transaction; write_item(0); write_item(1); answered = false }
  /* The answer is lost: the workers send their steps again. */
  :: d_step { (item[0].there || item[1].there) && may_fail -> faults++; new_transaction; write_item(0); write_item(1) }
  od
}
#endif
