/** The fleet that looks for waits. Their runs are those of one fleet, whose agents and prices they were accepted with. */
export interface WaitFleet {
  queuePrefix: string;
  /** What another fleet has left for this long is done for it, in ms; null: never, as a private fleet takes over nothing. */
  adoptMs: number | null;
}

/** The run is in the same thread, so a node of a distributed database has both. It is gone if its thread was erased. */
const prefix = '(select r.queue_prefix from lanefold._run r where r.thread_id = w.thread_id and r.id = w.run_id)';

/**
 * SQL: whether a row `w` of a table of waits or child runs is for the fleet whose prefix and `adoptMs` are the parameters
 * from `$first` on: its run is of that fleet, or of none any more, or it was left since `since`.
 */
export const ofFleet = (since: string, first: number): string =>
  `(coalesce(${prefix}, $${first}) = $${first}
     or w.${since} < lanefold._now() - $${first + 1}::float8 * interval '1 ms')`;
