/*
 * The line of runs that wait for several limits at once: use_limits of db/sql/limit, and how src/runs/limiter/gate.ts
 * calls it. Three runs, two processes, and two or three limits (-DLIMITS=3). A run takes all that it needs or nothing; one
 * that is refused waits, and the process that frees something checks who is next. Each call is a transaction of its own,
 * which locks the buckets that it changes and reads the others as they were committed.
 *
 * The order of the line is that of the runs' numbers: a run may be accepted after others and come before them. Needs and
 * amounts are chosen at the start, so that the search sees all of them. -DFAULTS: processes that die before they check
 * what they have freed, and runs that are cancelled while they wait.
 *
 * With TRACE, the model does only what real runs did: as trace.pml says, but with the actions of the line. What they need and
 * the amounts are those of the real limits.
 */
#ifndef LIMITS
#define LIMITS 2
#endif
#ifndef FAULTS
#define FAULTS 0
#endif
#define RUNS 3
#define NONE 255

#include "properties.pml"

mtype = { unknown, waiting, granted, working, ended };
mtype status[RUNS] = unknown;
typedef Amounts { byte amount[LIMITS] }
Amounts needs[RUNS];
byte capacity[LIMITS];
byte used[LIMITS];  /* by runs at work, and set aside for granted ones */
byte faults;
bool forgotten;     /* a process died before it checked: the sweeps of others check */

#define TRACE_LINE 1   /* the run waits */
#define TRACE_GRANT 2  /* what it needs is set aside for it */
#define TRACE_WORK 3   /* a worker has it, and it has what it needs */
#define TRACE_LEAVE 4  /* it ends while it waits */
#define TRACE_END 5
#ifdef TRACE
hidden byte the_run_is_accepted;
hidden byte trace_kind[TRACES * TRACE] = TRACE_KINDS;
hidden byte trace_run[TRACES * TRACE] = TRACE_RUNS;
hidden byte trace_needs[RUNS * LIMITS] = TRACE_NEEDS;
hidden byte trace_capacity[LIMITS] = TRACE_CAPACITY;
byte chosen;
byte position;
bool stray;
#define here (chosen * TRACE + position)
inline traced(kind, r) {
  if
  :: position < TRACE && trace_kind[here] == kind && trace_run[here] == r -> position++
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
#define traced(kind, r)
#endif

#define needs_it(r, b) (needs[r].amount[b] > 0)
#define has_room(r, b) (used[b] + needs[r].amount[b] <= capacity[b])
#if LIMITS == 2
#define has_room_in_all(r) (has_room(r, 0) && has_room(r, 1))
#define has_room_elsewhere(r, b) ((b == 0 || has_room(r, 0)) && (b == 1 || has_room(r, 1)))
#define sees_room_elsewhere(r, b) ((b == 0 || stale[0] + needs[r].amount[0] <= capacity[0]) && (b == 1 || stale[1] + needs[r].amount[1] <= capacity[1]))
#define is_behind_in_any(r) (is_behind(r, 0) || is_behind(r, 1))
#else
#define has_room_in_all(r) (has_room(r, 0) && has_room(r, 1) && has_room(r, 2))
#define has_room_elsewhere(r, b) ((b == 0 || has_room(r, 0)) && (b == 1 || has_room(r, 1)) && (b == 2 || has_room(r, 2)))
#define is_behind_in_any(r) (is_behind(r, 0) || is_behind(r, 1) || is_behind(r, 2))
#endif

/* What earlier runs of the line can use of a bucket: what another bucket has no room for, they keep from no run. */
#define claims(e, r, b) (e < r && status[e] == waiting && needs_it(e, b) && has_room_elsewhere(e, b) -> needs[e].amount[b] : 0)
#define set_aside(r, b) (claims(0, r, b) + claims(1, r, b))
#ifdef FORGETS_THE_ORDER
#define is_behind(r, b) false
#else
#define is_behind(r, b) (needs_it(r, b) && used[b] + needs[r].amount[b] + set_aside(r, b) > capacity[b])
#endif

#if LIMITS == 2
#define is_behind_elsewhere(r, b) ((b != 0 && is_behind(r, 0)) || (b != 1 && is_behind(r, 1)))
#else
#define is_behind_elsewhere(r, b) ((b != 0 && is_behind(r, 0)) || (b != 1 && is_behind(r, 1)) || (b != 2 && is_behind(r, 2)))
#endif
#define can_go(r) (has_room_in_all(r) && !is_behind_in_any(r))
#define is_in_line(r, b) (status[r] == waiting && needs_it(r, b))

/* What to check, by process; it does so in a transaction of its own. */
typedef Looks { bool at[LIMITS] }
Looks look[2];
/* The runs that a check found to be next, until the process asks for them. */
typedef Next { byte at[LIMITS] }
Next next[2];

/* Takes everything for a run: nothing of what an earlier run could use. */
inline grant(r) {
  for (e : 0 .. RUNS - 1) { could[e] = (e < r && status[e] == waiting && has_room_in_all(e)) }
  for (b : 0 .. LIMITS - 1) {
    used[b] = used[b] + needs[r].amount[b];
    holds(no_limit_is_exceeded, used[b] <= capacity[b])
  }
  status[r] = granted;
  traced(TRACE_GRANT, r);
  for (e : 0 .. RUNS - 1) {
    holds(no_run_is_overtaken, !could[e] || has_room_in_all(e));
    could[e] = false
  }
}

inline look_at_needs(p, r) {
  for (b : 0 .. LIMITS - 1) {
    if
    :: needs_it(r, b) -> look[p].at[b] = true
    :: else
    fi
  }
}

/* A run that waits is cancelled: it may have kept others. */
#ifdef LEAVES_SILENTLY
#define leave(p, r) skip
#else
#define leave(p, r) look_at_needs(p, r)
#endif

/* The first run that can be next in a bucket: behind one that only this bucket has no room for, none can. */
inline find_next(p, b) {
  aside = 0;
  for (e : 0 .. RUNS - 1) {
    if
    :: is_in_line(e, b) && has_room_elsewhere(e, b) ->
       if
       :: used[b] + aside + needs[e].amount[b] > capacity[b] -> break
       :: else -> aside = aside + needs[e].amount[b]
       fi;
       if
       /* it is next once the runs before it are, and keeps its room here until then */
       :: is_behind_elsewhere(e, b)
       :: else -> next[p].at[b] = e; break
       fi
    :: else
    fi
  };
  aside = 0
}

/* A run, and those that act for it: p is the process that does. */
proctype Run(byte r) {
  bool could[RUNS];
  byte b, e, p;
#ifdef CHECKS_BEFORE_COMMIT
  byte stale[LIMITS];
#endif
  atomic {
    select(p : 0 .. 1);
    d_step {
      if
      :: can_go(r) -> grant(r)
      :: else ->
         status[r] = waiting;
         traced(TRACE_LINE, r);
         if
         :: has_room_in_all(r) -> look_at_needs(p, r)
         :: else
         fi
      fi;
      b = 0; e = 0
    }
  }
  if
  :: d_step { status[r] == granted -> status[r] = working; traced(TRACE_WORK, r) }  /* a worker claims it */
  :: d_step { status[r] == waiting && faults < FAULTS -> faults++; status[r] = ended; traced(TRACE_LEAVE, r); leave(p, r); b = 0 }  /* it is cancelled */
  fi;
  if
  :: status[r] == ended
#ifdef CHECKS_BEFORE_COMMIT
  /* it looks who is next before what it frees is committed, and sees the other buckets as they were */
  :: d_step { status[r] == working ->
       for (b : 0 .. LIMITS - 1) { stale[b] = used[b] };
       b = 0 }
     d_step {
       for (b : 0 .. LIMITS - 1) { used[b] = used[b] - needs[r].amount[b] };
       status[r] = ended;
       for (b : 0 .. LIMITS - 1) {
         if
         :: needs_it(r, b) ->
            for (e : 0 .. RUNS - 1) {
              if
              :: is_in_line(e, b) && sees_room_elsewhere(e, b) && has_room(e, b) -> next[p].at[b] = e; break
              :: else
              fi
            }
         :: else
         fi
       };
       b = 0; e = 0
     }
#else
  :: atomic {
       status[r] == working;
       select(p : 0 .. 1);
       d_step {
         for (b : 0 .. LIMITS - 1) { used[b] = used[b] - needs[r].amount[b] };
         status[r] = ended;
         traced(TRACE_END, r);
         look_at_needs(p, r);
         b = 0
       }
     }
#endif
  fi;
end:
  skip
}

/* After a refusal: what this run leaves may be for the next one. A bucket without room is checked when it has some again. */
inline look_again(p, r) {
  for (b : 0 .. LIMITS - 1) {
    if
    :: needs_it(r, b) && has_room(r, b) -> look[p].at[b] = true
    :: else
    fi
  }
}

#define next_at(p, b) next[p].at[b]
inline ask_for_next(p, b0) {
  if
  :: status[next_at(p, b0)] == waiting && can_go(next_at(p, b0)) -> granting = next_at(p, b0); look_at_needs(p, granting); grant(granting)
  :: status[next_at(p, b0)] == waiting && !can_go(next_at(p, b0)) ->
     /* what it was refused may be for the next run */
     granting = next_at(p, b0); look_again(p, granting)
  :: else
  fi;
  next_at(p, b0) = NONE; b = 0; e = 0; granting = 0
}
/* What a process does at one bucket. Its calls for different buckets do not wait for each other. */
proctype Process(byte p; byte at) {
  bool could[RUNS];
  byte b, e, granting, aside;
end:
  do
  :: d_step { look[p].at[at] && next_at(p, at) == NONE -> look[p].at[at] = false; find_next(p, at); e = 0 }
  :: d_step { next_at(p, at) != NONE -> ask_for_next(p, at) }
  /* it dies: what it was to check is left to the sweep of another process */
  :: d_step { faults < FAULTS && look[p].at[at] -> faults++; forgotten = true; look[p].at[at] = false }
  od
}

/* Checks every bucket after a process has died. */
proctype Sweep() {
  byte b;
end:
  do
  :: d_step { forgotten -> forgotten = false; for (b : 0 .. LIMITS - 1) { look[0].at[b] = true }; b = 0 }
  od
}

/* When nothing is left to do, every run has ended. */
proctype AtRest() {
end:
  timeout -> holds(every_run_gets_its_turn, status[0] == ended && status[1] == ended && status[2] == ended)
}

#ifdef LIVENESS
ltl every_run_ends { <> (status[0] == ended && status[1] == ended && status[2] == ended) }
#endif

init {
  byte r, b, n;
  atomic {
#ifdef TRACE
    select(chosen : 0 .. TRACES - 1);
    for (b : 0 .. LIMITS - 1) {
      capacity[b] = trace_capacity[b];
      next[0].at[b] = NONE;
      next[1].at[b] = NONE;
      for (r : 0 .. RUNS - 1) { needs[r].amount[b] = trace_needs[r * LIMITS + b] }
    }
    run Accepted();
#else
    for (b : 0 .. LIMITS - 1) {
      capacity[b] = 1 + b % 2;
      next[0].at[b] = NONE;
      next[1].at[b] = NONE
    }
    for (r : 0 .. RUNS - 1) {
      for (b : 0 .. LIMITS - 1) {
#if LIMITS == 3
        /* of three limits, the last run needs all, and the others one of each at most: all needs would be too many to search */
        if
        :: r < RUNS - 1 -> select(n : 0 .. 1)
        :: else -> n = 1
        fi;
#else
        select(n : 0 .. capacity[b]);
#endif
        needs[r].amount[b] = n
      }
    }
#endif
    n = 0; r = 0; b = 0;
    run Run(0); run Run(1); run Run(2);
    for (b : 0 .. LIMITS - 1) {
      run Process(0, b);
      run Process(1, b)
    }
    b = 0;
    run Sweep();
    run AtRest()
  }
}
