import type { Mutant } from '../../history/mutants/mutants.ts';

/** Changes of functions that break what calls for work promise. */
export const mutants: readonly Mutant[] = [
  {
    name: 'a run that has not ended in time is not returned',
    caughtBy: 'an-ended-call-holds-nothing',
    sql: { release_run: [["r.lease = p_lease and r.status = 'running'", "r.lease = p_lease and r.status = 'never'"]] },
  },
  {
    name: 'a run that a killed process held is never lost',
    caughtBy: 'idle-leaves-no-lost-run',
    sql: { _lease_over: [['select p_until <', 'select false and p_until <']] },
  },
  {
    name: 'a delivery is looked for long after its time',
    caughtBy: 'idle-leaves-no-delivery',
    sql: { open_endpoints: [['o.next_at <= v_at order by', "o.next_at <= v_at - interval '30 s' order by"]] },
  },
];
