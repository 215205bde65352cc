/*
 * One rule each. Without a variant (-D) they are what the product does; a variant leaves one of them out. Each has a
 * property that it breaks: docs/reference/proofs.md lists them. READ_BEFORE_THE_LOCK, PROMOTED_LATER and TOLD_BEFORE_STORED are in
 * commit.pml, end.pml and client.pml, because they move a step.
 */

/* A writer's lease must be the newest. */
#ifdef FENCE_NOT_COMPARED
#define has_lease(r, p_lease) true
#else
#define has_lease(r, p_lease) (run_[r].lease == p_lease)
#endif

/* A claim raises the lease. */
#ifdef LEASE_NOT_RAISED
#define raise_lease(r) run_[r].lease = 1
#else
#define raise_lease(r) run_[r].lease++
#endif

/* A worker's run must be running: it may have ended, or been given back. */
#ifdef STATUS_NOT_COMPARED
#define is_held(r) true
#else
#define is_held(r) (run_[r].status == running)
#endif

/* A step that is in the log is not written again. */
#ifdef STEP_NOT_COMPARED
#define is_repeat(r, p_step) false
#else
#define is_repeat(r, p_step) (p_step < run_[r].step)
#endif

/* An end is written only to a run that has not ended. */
#ifdef END_NOT_COMPARED
#define has_ended(r) false
#else
#define has_ended(r) (run_[r].ended)
#endif

/* Only a run that waits is promoted; in the variant, the worker promotes once more after the end. */
#ifdef PROMOTES_AGAIN
#define is_waiting(r) (run_[r].status != absent && !run_[r].ended)
#else
#define is_waiting(r) (run_[r].status == waiting)
#endif

/* A running run is claimed only when its lease is over. */
#ifdef CLAIMS_A_HELD_RUN
#define may_take_over(r) true
#else
#define may_take_over(r) (run_[r].lease_over)
#endif

/* A recorded cancel turns every other end into `cancelled`. */
#ifdef CANCEL_COMES_TOO_LATE
#define end_of(r, how) how
#else
#define end_of(r, how) (run_[r].cancel -> cancelled : how)
#endif

/* A last step does not end a run for which input waits. */
#ifdef ENDS_WITH_INPUT
#define goes_on(r) false
#else
#define goes_on(r) (run_[r].input && !run_[r].cancel)
#endif

/*
 * Which runs have no job is asked of the run table: the queue knows only what it has not lost. A job that was taken from
 * it counts as lost with the lease, but not within the grace time after the run was given that job.
 */
#ifdef SWEEP_TRUSTS_THE_QUEUE
#define lost_job(r) (run_[r].lease_over && has(taken[r], run_[r].enqueue_no))
#else
#define lost_job(r) \
  ((run_[r].status == queued && !in_queue(r, run_[r].enqueue_no)) || \
   (run_[r].status == running && run_[r].lease_over && !has(jobs[r], run_[r].enqueue_no) && \
    !(run_[r].grace && has(taken[r], run_[r].enqueue_no))))
#endif

/* What returned is reserved no longer. */
#ifdef RESERVATION_RETURNS_TWICE
#define reserved_after_return(r) account[r].reserved
#else
#define reserved_after_return(r) 0
#endif

/* A child's end is marked as told after its parent has it. */
#ifdef MARKED_BEFORE_TOLD
#define marks_first true
#else
#define marks_first false
#endif

/* A wait ends once. */
#ifdef WAIT_NOT_COMPARED
#define is_open (wait != no_wait)
#else
#define is_open (wait == open)
#endif

/* A run that is suspended continues at once if its wait has ended meanwhile. */
#ifdef SUSPENDS_BLINDLY
#define suspends_blindly true
#else
#define suspends_blindly false
#endif

/* An error of one write of a batch undoes only that write. */
#ifdef BATCH_FAILS_AS_ONE
#define undoes_all true
#else
#define undoes_all false
#endif

/* The account of an ended run is closed with what the log says the run has used. */
#ifdef SETTLES_UNREAD
#define used_when_refused(r) account[r].settled
#else
#define used_when_refused(r) spent(r)
#endif
