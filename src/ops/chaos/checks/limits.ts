import type { Check } from './check.ts';

/** What runs take of a limit returns or is counted, once. */
export const limits: Check[] = [
  {
    invariant: 'I5',
    name: 'nothing of a limit is held once every run has ended',
    holds: 'at_rest',
    sql: `
      select owner, name, key, kind, used, reserved, waiting, null as run_id from lanefold.limit_usage
      where reserved <> 0 or waiting <> 0 or (kind = 'concurrency' and used <> 0)
      union all
      select null, null, null, null, null, null, null, run_id from lanefold._limit_account
      union all
      select owner, name, key, null, null, null, null, run_id from lanefold._limit_wait`,
  },
];
