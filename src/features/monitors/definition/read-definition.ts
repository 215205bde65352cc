import { readChain } from '../../../agent/models/model-chain.ts';
import { LanefoldError } from '../../../base/errors.ts';
import type { ListedMonitor, MonitorDefinition } from '../types.ts';

/** A monitor with its defaults. */
export type CheckedMonitor = Pick<ListedMonitor, 'agents' | 'sample' | 'scorers' | 'rubric' | 'judge' | 'alert'>;

/**
 * Checks that the fields of a monitor fit together, and fills in the defaults.
 *
 * @throws LanefoldError `invalid_input`
 */
export function readMonitor(given: MonitorDefinition): CheckedMonitor {
  const { agents = [], sample = 0.1, scorers = [], rubric, judge, alert } = given;
  if (rubric === undefined && judge !== undefined) throw invalid('rubric', 'is missing: a judge needs one');
  if (rubric !== undefined && judge === undefined) throw invalid('judge', 'is missing: a rubric needs one');
  if (scorers.length === 0 && rubric === undefined)
    throw invalid('scorers', 'is empty: name a scorer, or a rubric with a judge');
  if (judge?.model !== undefined) readChain(judge.model, 'The judge');
  return {
    agents: unique(agents),
    sample,
    scorers: unique(scorers),
    rubric: rubric ?? null,
    judge: judge ?? null,
    alert: alert ? { below: alert.below, of: alert.of ?? 50 } : null,
  };
}

const invalid = (field: string, problem: string): LanefoldError =>
  new LanefoldError('invalid_input', `The monitor is invalid: ${field} ${problem}.`, {
    hint: 'Nothing was written. Correct the field, and set the monitor again.',
    details: { field, problem },
  });

const unique = (values: readonly string[]): string[] => [...new Set(values)].sort();
