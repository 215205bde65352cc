import { timesText, type Growth, type Comparison, type VariantResult } from './report.ts';

/** Fewer cases give no verdict. */
const fewestCases = 6;

const tones: Record<Comparison['verdict'], string> = {
  better: 'good',
  worse: 'bad',
  no_difference: 'idle',
  too_few_cases: 'wait',
};

/** The verdict in a few words, with the tone of each badge. A variant that costs or takes more is not merely the same. */
export function badgesOf({ verdict, cases, same }: Comparison, { cost, p50 }: Growth): [tone: string, text: string][] {
  const more = [
    ...(cost === undefined ? [] : [`costs ${timesText(cost)}`]),
    ...(p50 === undefined ? [] : [`takes ${timesText(p50)}`]),
  ].join(', ');
  if (more !== '' && verdict === 'no_difference')
    return [['bad', `${same === cases ? 'same scores' : 'no difference in scores'}, ${more}`]];
  return [[tones[verdict], verdict.replaceAll('_', ' ')], ...(more === '' ? [] : [['bad', more] as [string, string]])];
}

/** The verdict of a comparison as a sentence. */
export function verdictOf({ verdict, candidate, baseline, difference, cases, same }: Comparison): string {
  if (cases === 0) return `${candidate} and ${baseline} have no case in common that counts.`;
  const size =
    same === cases && cases > 1
      ? `each of the ${cases} cases scored the same`
      : `the score differs by ${intervalText(difference)} over ${count(cases, 'case')}`;
  if (verdict === 'no_difference') return `No difference between ${candidate} and ${baseline} is shown: ${size}.`;
  if (verdict === 'too_few_cases')
    return `Too few cases to compare ${candidate} with ${baseline}: ${size}, and a verdict needs ${fewestCases}.`;
  return `${candidate} is ${verdict} than ${baseline}: ${size}.`;
}

/** An interval of no width would look like certainty, so it is not shown. */
function intervalText({ mean, low, high }: Comparison['difference']): string {
  if (low === null || high === null) return signed(mean);
  if (high - low < 1e-9) return `${signed(mean)} in every case`;
  return `${signed(mean)} (95 % interval ${signed(low)} to ${signed(high)})`;
}

/** The result of an eval with one variant. */
export const aloneSentence = ({ variant, passed, scored }: VariantResult): string =>
  scored === 0 ? `No item of ${variant} counts.` : `${variant} passes ${passed} of ${count(scored, 'item')}.`;

/** The items of a variant that do not count, and why. */
export const leftOut = ({ pending, unscored, erased }: VariantResult): string =>
  [
    pending > 0 && `${pending} not ended`,
    unscored > 0 && `${unscored} without a score`,
    erased > 0 && `${erased} erased`,
  ]
    .filter(Boolean)
    .join(', ') || '–';

export function signed(value: number | null): string {
  if (value === null) return '–';
  const text = value.toFixed(3);
  return value > 0 && Number(text) !== 0 ? `+${text}` : text.replace(/^-(0\.000)$/, '$1');
}

export const count = (n: number, word: string): string => `${n} ${word}${n === 1 ? '' : 's'}`;
