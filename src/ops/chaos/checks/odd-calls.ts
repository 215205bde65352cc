import { neverRuns } from '../provider/answers.ts';
import type { Check } from './check.ts';

/** What tools recorded of calls that the provider wrote in odd ways. */
export const oddCalls: Check[] = [
  {
    invariant: 'I16',
    name: 'no tool starts for a call of a cut answer, or with arguments that are no JSON object',
    holds: 'always',
    // the provider gives such calls ids by which they are known
    sql: `
      select c.thread_id, c.run_id, c.round, c.call_index, c.name, s.pid, s.at from history.tool_start s
      join lanefold.run_tool_call c on c.run_id = s.run_id and c.round = s.round and c.call_index = s.call_index
      where starts_with(c.tool_call_id, '${neverRuns}')`,
  },
];
