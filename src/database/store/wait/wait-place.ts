/** A place among waits in the order of their creation. */
export interface WaitPlace {
  /** `created_at` as PostgreSQL writes it: a Date has no microseconds, so the rows of one commit would come again. */
  at: string;
  thread_id: string;
  run_id: string;
  round: number;
  call_index: number;
}

/** The columns of a place. */
export const placeColumns = 'created_at::text as at, thread_id, run_id, round, call_index';

/** For waits after the place in the parameters from `$first` on, which `placeParameters` gives. */
export const isAfter = (first: number): string =>
  `(created_at, thread_id, run_id, round, call_index) >
     (coalesce($${first}::timestamptz, '-infinity'), $${first + 1}, $${first + 2}, $${first + 3}::int, $${first + 4}::smallint)`;

/** For `order by`. */
export const placeOrder = 'created_at, thread_id, run_id, round, call_index';

export const placeParameters = (after: WaitPlace | undefined): unknown[] => [
  after?.at ?? null,
  after?.thread_id ?? '',
  after?.run_id ?? '',
  after?.round ?? 0,
  after?.call_index ?? 0,
];
