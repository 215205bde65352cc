/*
 * The life of runs, as db/sql and src/worker have it: a model that spin checks in every order of events.
 *
 * Each function of the database is one transaction under the lock of its thread, so here it is one indivisible step
 * (d_step). Between two steps anything may happen: another process acts, a worker crashes, a lease runs out, the queue
 * loses a job. Time is not counted. A lease may run out at any moment, and a sweep may come at any moment.
 *
 * One world is checked at a time, because small worlds can be searched completely:
 *   -DLANE   two runs on one thread, of which the second waits; with -DCALLER also input, a cancel or
 *            an entry of another caller
 *   -DCHILD  a run whose tool call waits for a child run on another thread
 *   -DLIMIT  two runs on two threads share a limit on cost that has room for one call
 *   -DBATCH  two runs on two threads whose steps share transactions
 *
 * README.md beside this file says how to read it. variants.pml has the variants (-D), which leave out one rule each and
 * must fail.
 */
#ifndef WORKERS
#define WORKERS 2
#endif
#ifndef FAULTS
#define FAULTS 2 /* crashes, frozen workers, lost jobs, lost answers: this many in all */
#endif
#ifndef STEPS
#define STEPS 2 /* a run commits at most this many steps, not counting those that input adds */
#endif
#ifndef MAX_CLAIMS
#define MAX_CLAIMS 2 /* without a committed step; the next claim ends the run as poisoned */
#endif

#if defined(LANE)
#define THREADS 1
#define THREAD(r) 0
#else
#define THREADS 2
#define THREAD(r) (r)
#endif
#define OTHER(r) (1 - (r))
#define NONE 255

#include "properties.pml"
#include "state.pml"
#include "trace.pml"
#include "queue.pml"
#include "variants.pml"
#include "limits.pml"
#include "waits.pml"
#include "log.pml"
#include "end.pml"
#include "claim.pml"
#include "commit.pml"
#include "requests.pml"
#include "batch.pml"
#include "worker.pml"
#include "sweep.pml"
#include "keeper.pml"
#include "client.pml"
#include "ends.pml"

init {
  atomic {
    thread[0].active_run = NONE;
#if THREADS == 2
    thread[1].active_run = NONE;
#endif
    run Client();
    run Sweep();
    run Clock();
    run Queue();
    run Worker(0);
#if WORKERS > 1
    run Worker(1);
#endif
#ifdef TRACE
    select(chosen : 0 .. TRACES - 1);
    run Accepted()
#else
    run AtRest()
#endif
  }
}
