/* When no process can act any more, everything has to be done. */
proctype AtRest() {
end:
  timeout ->
  holds(every_accepted_run_has_ended, !run_told[0] || run_[0].ended || counts_too_much);
  holds(every_accepted_run_has_ended, !run_told[1] || run_[1].ended || counts_too_much);
  holds(acknowledged_is_stored, !input_told || input == injected || input == dropped);
  holds(input_is_in_the_log_once, input != injected || input_logged);
#ifdef CHILD
  holds(a_parent_is_told_once, run_[0].status != completed || wait == resolved);
  holds(a_parent_is_told_once, !untold && task == no_task);
#endif
#ifdef LIMIT
  holds(reservations_are_conserved, bucket == settled_in_all && ((!account[0].in_line && !account[1].in_line) || reopened));
  holds(usage_is_settled_once, settled_in_all == spent(0) + spent(1) || (reopened && settled_in_all > spent(0) + spent(1)));
#endif
}

/* Nothing continues for ever without the end of a run, as long as every process that can act acts at last. */
#ifdef LIVENESS
#define comes_to_its_end(r) (run_told[r] -> <>(run_[r].ended || counts_too_much))
ltl every_accepted_run_ends { []((comes_to_its_end(0)) && (comes_to_its_end(1))) }
#endif
