/* The tables, as far as runs need them. `ghost` marks what only the properties read: the product stores no such thing. */

mtype:run_status = { absent, waiting, queued, running, suspended, completed, failed, cancelled };

typedef Run {
  mtype:run_status status = absent;
  byte enqueue_no;      /* of its job; a job with another number is outdated */
  byte lease;           /* the fencing number */
  bool lease_over;      /* lease_until has passed */
  byte step;
  bool grace;           /* enqueued_at is recent: a sweep has just given it a job */
  byte claims;          /* claims_without_progress */
  bool started;         /* the user message is in the log */
  bool cancel;          /* cancel_requested_at is set */
  bool input;           /* one queued input */
  bool delayed;         /* limited_by: a limit has refused it */

  byte holder = NONE;   /* ghost: the worker that the lease was given to */
  bool held;            /* ghost: that worker still has the run in memory */
  byte written;         /* ghost: the steps in the log, a bit for each */
  bool promoted;        /* ghost */
  bool ended            /* ghost: the terminal event is in the log */
};
Run run_[2];

typedef Thread {
  byte active_run;      /* active_run_id */
  byte rev;             /* the next seq */
  byte entries          /* ghost: rows in the log */
};
Thread thread[THREADS];

/* The input that a client sends: what became of it, and how often it is in the log. */
mtype:receipt = { unsent, stored, injected, dropped };
mtype:receipt input = unsent;
byte input_run;
bool input_told;        /* ghost: the client has been told `queued` */
bool input_logged;      /* ghost */
bool run_told[2];       /* ghost: the client has been told that the run was accepted */

byte faults;
#define may_fail (faults < FAULTS)

/* When a worker may commit, and when the commit may be the last. */
#if defined(CHILD) && defined(TRACE)
#define may_commit(r) (step + 1 < STEPS && (r == 1 || step == 0 || wait == resolved))
#define may_end(r) (r == 1 || wait == resolved)
#elif defined(CHILD)
#define may_commit(r) (r == 0 && step == 0)
#define may_end(r) (r == 1 || step == 2)
#else
#define may_commit(r) (step + 1 < STEPS)
#define may_end(r) true
#endif

/* Variables that a step uses and forgets. */
hidden byte seq_;
hidden mtype:run_status how_, was_;

/* What a function answers, and in `next` and `next_no` the job that its caller has to add. */
mtype:reply = { applied, duplicate, continued, refused, not_held };
#define none_next next = NONE; next_no = 0

/* Every write to a run passes here first. */
#define unchanged_after_end(r) holds(an_ended_run_never_changes, !run_[r].ended)
