/** The fleet that looks for waits. Their runs are those of one fleet, whose agents and prices they were accepted with. */
export interface WaitFleet {
  queuePrefix: string;
  /** What another fleet has left for this long is done for it, in ms; null: never, as a private fleet takes over nothing. */
  adoptMs: number | null;
}

/**
 * SQL: the rows of a table of waits or child runs where a condition on `w` holds, with the queue prefix of their run as
 * `fleet`; null if its thread was erased. The run is in the same thread, so a node of a distributed database has both.
 */
export const withFleet = (table: string, where: string): string =>
  `select w.*, r.queue_prefix as fleet from ${table} w
     left join lanefold._run r on r.thread_id = w.thread_id and r.id = w.run_id where ${where}`;

/** SQL: for rows of the fleet whose prefix and `adoptMs` are the parameters from `$first` on, or left since `since`. */
export const ofFleet = (since: string, first: number): string =>
  `(fleet = $${first} or ${since} < lanefold._now() - $${first + 1}::float8 * interval '1 ms')`;
