import { isStorable } from '../../../base/checks/text.ts';
import { refuseUnknownKeys, type KeysOf } from '../../../base/checks/unknown-keys.ts';
import { LanefoldError } from '../../../base/errors.ts';
import { scorerName } from '../../evals/scorers/define-scorer.ts';
import type { CheckedMonitor, MonitorAlert, MonitorDefinition } from './definition.ts';

const keys: KeysOf<MonitorDefinition> = {
  ...{ agents: true, sample: true, scorers: true, rubric: true, judge: true, alert: true },
};
const judgeKeys: KeysOf<NonNullable<MonitorDefinition['judge']>> = { agent: true, model: true };
const alertKeys: KeysOf<MonitorAlert> = { below: true, of: true };
const most = 100;
const longestRubric = 8_000;

/**
 * Checks a monitor, and fills in the defaults.
 *
 * @throws LanefoldError `invalid_input`
 */
export function readMonitor(given: MonitorDefinition): CheckedMonitor {
  if (!isObject(given)) throw invalid('definition', 'must be an object');
  refuseUnknownKeys('monitors.set', given, keys);
  const { agents = [], sample = 0.1, scorers = [], rubric, judge, alert } = given;
  if (!areTexts(agents)) throw invalid('agents', `must be a list of at most ${most} names`);
  if (!isShare(sample)) throw invalid('sample', 'must be a number above 0 and up to 1');
  if (!areTexts(scorers) || !scorers.every((name) => scorerName.test(name)))
    throw invalid('scorers', `must be a list of at most ${most} names of scorers`);
  if (rubric !== undefined && (!isText(rubric) || rubric.length > longestRubric))
    throw invalid('rubric', `must be a text of at most ${longestRubric} characters`);
  if (rubric === undefined && judge !== undefined) throw invalid('rubric', 'is missing: a judge needs one');
  if (rubric !== undefined && judge === undefined) throw invalid('judge', 'is missing: a rubric needs one');
  if (scorers.length === 0 && rubric === undefined)
    throw invalid('scorers', 'is empty: name a scorer, or a rubric with a judge');
  return {
    ...{ agents: unique(agents), sample, scorers: unique(scorers), rubric: rubric ?? null },
    ...{ judge: judge === undefined ? null : readJudge(judge), alert: alert === undefined ? null : readAlert(alert) },
  };
}

function readJudge(judge: NonNullable<MonitorDefinition['judge']>): CheckedMonitor['judge'] {
  if (!isObject(judge)) throw invalid('judge', 'must be an object');
  refuseUnknownKeys('judge', judge, judgeKeys);
  const { agent, model } = judge;
  if (!isText(agent)) throw invalid('judge.agent', 'must be the name of an agent');
  if (model !== undefined && (!isText(model) || model.length > 200))
    throw invalid('judge.model', 'must be the name of a model');
  return { agent, ...(model === undefined ? {} : { model }) };
}

function readAlert(alert: MonitorAlert): Required<MonitorAlert> {
  if (!isObject(alert)) throw invalid('alert', 'must be an object');
  refuseUnknownKeys('alert', alert, alertKeys);
  const { below, of = 50 } = alert;
  if (!isShare(below)) throw invalid('alert.below', 'must be a number above 0 and up to 1');
  if (!Number.isInteger(of) || of < 1 || of > 1_000)
    throw invalid('alert.of', 'must be a whole number from 1 to 1,000');
  return { below, of };
}

const invalid = (field: string, problem: string): LanefoldError =>
  new LanefoldError('invalid_input', `The monitor is invalid: ${field} ${problem}.`, {
    hint: 'Nothing was written. Correct the field, and set the monitor again.',
    details: { field, problem },
  });

const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value);
const isText = (value: unknown): boolean => typeof value === 'string' && value.trim() !== '' && isStorable(value);
const isShare = (value: unknown): boolean => typeof value === 'number' && value > 0 && value <= 1;
const areTexts = (value: unknown): boolean =>
  Array.isArray(value) && value.length <= most && value.every((one) => isText(one) && one.length <= 128);
const unique = (values: readonly string[]): string[] => [...new Set(values)].sort();
