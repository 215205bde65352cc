/* The queue holds jobs by run and enqueue_no, a bit for each. Adding a job that is there changes nothing. */

byte jobs[2];           /* waiting for a worker */
byte taken[2];          /* taken by a worker that lives */
byte later[2];          /* delayed, until a limit lets their runs continue */

#define BIT(no) (1 << (no))
#define has(set, no) ((set & BIT(no)) != 0)
#define add(set, no) set = set | BIT(no)
#define remove(set, no) set = set & ~BIT(no)
#define in_queue(r, no) (has(jobs[r], no) || has(later[r], no) || has(taken[r], no))

/* The oldest job of a run. */
inline take_job(r, no) {
  no = 0;
  do
  :: has(jobs[r], no) -> break
  :: else -> no++
  od;
  remove(jobs[r], no);
  add(taken[r], no)
}

/* Loses everything that it holds, or hands out a job that a worker still has. */
proctype Queue() {
end:
  do
  :: atomic { (jobs[0] | jobs[1] | later[0] | later[1]) != 0 && may_fail -> faults++;
      jobs[0] = 0; jobs[1] = 0; later[0] = 0; later[1] = 0; taken[0] = 0; taken[1] = 0 }
  :: atomic { (taken[0] & ~jobs[0]) != 0 && may_fail -> faults++; jobs[0] = jobs[0] | taken[0] }
  :: atomic { (taken[1] & ~jobs[1]) != 0 && may_fail -> faults++; jobs[1] = jobs[1] | taken[1] }
  od
}

/* A lease runs out once its worker is gone. That of a worker which is only slow, too: that is a fault. */
proctype Clock() {
end:
  do
  :: atomic { run_[0].status == running && !run_[0].lease_over && !run_[0].held -> run_[0].lease_over = true }
  :: atomic { run_[1].status == running && !run_[1].lease_over && !run_[1].held -> run_[1].lease_over = true }
  :: atomic { run_[0].status == running && !run_[0].lease_over && run_[0].held && may_fail -> faults++; run_[0].lease_over = true }
  :: atomic { run_[1].status == running && !run_[1].lease_over && run_[1].held && may_fail -> faults++; run_[1].lease_over = true }
  od
}
