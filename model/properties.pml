/*
 * What must hold. `holds` checks a condition at one step; spin reports the condition with the name of the property.
 * The names are variables that are never set, because spin prints names of variables only.
 */
hidden byte only_the_holder_commits;            /* no two workers commit under one lease */
hidden byte a_held_run_is_not_taken;            /* before its lease is over */
hidden byte a_step_is_written_once;             /* a repeat after a lost answer adds nothing */
hidden byte seq_has_no_gap_and_no_repeat;
hidden byte a_run_ends_once;
hidden byte an_ended_run_never_changes;
hidden byte a_recorded_cancel_wins;
hidden byte one_run_is_active_on_a_thread;
hidden byte a_waiting_run_is_promoted_once;
hidden byte acknowledged_is_stored;             /* of runs, inputs and steps */
hidden byte input_is_in_the_log_once;           /* if its run completes; else it is dropped */
hidden byte a_parent_is_told_once;
hidden byte reservations_are_conserved;         /* a bucket has what accounts reserve and what was settled */
hidden byte usage_is_settled_once;
hidden byte every_accepted_run_has_ended;       /* checked when nothing is left to do */
hidden byte no_limit_is_exceeded;               /* by what runs have and what is set aside for granted ones */
hidden byte no_run_is_overtaken;                /* a later run takes nothing that it could use */
hidden byte every_run_gets_its_turn;            /* in the line; checked when nothing is left to do */
hidden byte nothing_overflows;                  /* of the model: its bytes and bit sets suffice */

#define holds(property, condition) assert((condition) || property)
