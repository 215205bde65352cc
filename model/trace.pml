/*
 * With TRACE, the model does only what a real run did. test/model writes a file that defines the actions of TRACES runs,
 * TRACE actions each, in the order in which the database committed them, and includes runs.pml. An action that is not
 * the next one is a stray, after which nothing more is tried. The search looks for a way to the last action: if there is
 * one, spin reports that the assertion `the_run_is_accepted` fails.
 */
#define TRACE_ENQUEUE 1 /* value: 1 if the run may start, 0 if it waits */
#define TRACE_CLAIM 2   /* value: the lease */
#define TRACE_COMMIT 3  /* value: the step after it */
#define TRACE_END 4     /* value: 1 completed, 2 failed, 3 cancelled */
#define TRACE_PROMOTE 5 /* value, as of the next three: enqueue_no */
#define TRACE_QUEUE_AGAIN 6
#define TRACE_RELEASE 7
#define TRACE_GO_ON 8
#define TRACE_CANCEL 9
#define TRACE_INPUT 10
#define TRACE_WAIT 11
#define TRACE_SUSPEND 12 /* value: the step after it */
#define TRACE_RESOLVE 13
#define TRACE_APPEND 14

#define end_value(how) (how == completed -> 1 : (how == failed -> 2 : 3))

#ifdef TRACE
hidden byte the_run_is_accepted;
hidden byte trace_kind[TRACES * TRACE] = TRACE_KINDS;
hidden byte trace_run[TRACES * TRACE] = TRACE_RUNS;
hidden byte trace_value[TRACES * TRACE] = TRACE_VALUES;
hidden byte trace_seq[TRACES * TRACE] = TRACE_SEQS;         /* the first entry that it wrote */
hidden byte trace_entries[TRACES * TRACE] = TRACE_ENTRIES;  /* how many it wrote */
hidden byte trace_together[TRACES * TRACE] = TRACE_TOGETHER; /* whether the step before it shared its transaction */
byte chosen;
byte position;
byte rev[THREADS];
bool stray;
bool began_before; /* the transaction that is written has written something before */
#define new_transaction began_before = false

#define here (chosen * TRACE + position)
#define is_next_action(kind, r, value) \
  (position < TRACE && trace_kind[here] == kind && trace_run[here] == r && trace_value[here] == value && \
   (began_before || !trace_together[here]) && \
   (trace_entries[here] == 0 || (writes(kind) && trace_seq[here] == rev[THREAD(r)])))
#define writes(kind) (kind == TRACE_CLAIM || kind == TRACE_COMMIT || kind == TRACE_END || kind == TRACE_APPEND)

inline traced(kind, r, value) {
  if
  :: is_next_action(kind, r, value) ->
     rev[THREAD(r)] = rev[THREAD(r)] + trace_entries[here];
     began_before = true;
     position++
  :: else -> stray = true
  fi
}

proctype Accepted() {
  position == TRACE -> assert(the_run_is_accepted)
}

never {
  do
  :: !stray
  od
}
#else
#define traced(kind, r, value)
#define new_transaction
#endif
