import { LanefoldError } from '../../../base/errors.ts';
import { closest } from '../../../base/checks/unknown-keys.ts';
import { scorerName } from '../scorers/scorer.ts';

/** A word, number or sign of a condition, and where it begins. */
interface Token {
  kind: 'name' | 'number' | 'sign' | 'end';
  text: string;
  /** From 0, in characters. */
  position: number;
}

const patterns: [Token['kind'], RegExp][] = [
  ['number', /(?:\d+(?:\.\d+)?|\.\d+)(?:e[+-]?\d+)?(?![A-Za-z0-9_.])/iy],
  ['name', /[A-Za-z][A-Za-z0-9_-]*(?:\.[A-Za-z][A-Za-z0-9_-]*){0,2}/y],
  ['sign', /<=|>=|<|>|\+|-/y],
];

/** The tokens of a condition; the last one is the end. @throws LanefoldError `invalid_input` */
function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  let position = 0;
  const skip = (): number => (position += /^\s*/.exec(text.slice(position))![0].length);
  for (skip(); position < text.length; skip()) {
    const found = patterns.flatMap(([kind, pattern]) => {
      pattern.lastIndex = position;
      const match = pattern.exec(text)?.[0];
      return match === undefined ? [] : [{ kind, text: match, position }];
    })[0];
    if (!found) {
      const rest = text.slice(position).split(/\s/)[0]!.slice(0, 40);
      throw conditionError(text, position, `${JSON.stringify(rest)} is not understood`, 'a metric, a number or a sign');
    }
    tokens.push(found);
    position += found.text.length;
  }
  return [...tokens, { kind: 'end', text: '', position }];
}

/** @param allowed what may stand there */
const conditionError = (text: string, position: number, what: string, allowed: string): LanefoldError =>
  new LanefoldError('invalid_input', `The condition is invalid at character ${position + 1}: ${what}.`, {
    hint: `Allowed here: ${allowed}.`,
    details: { condition: text.slice(0, 1_000), position, allowed },
  });

const fixedMetrics: readonly string[] = [
  'pass_rate',
  'score',
  'cost',
  'p50_ms',
  'p95_ms',
  'failures',
  'unscored',
  'difference',
  'difference.low',
  'difference.high',
] satisfies MetricName[];

const metricList = `${fixedMetrics.join(', ')}, score.<scorer>`;
const maxLength = 1_000;

/**
 * Reads a condition such as `pass_rate < baseline - 0.02 or failures > 3`. `and` binds more tightly than `or`.
 *
 * @throws LanefoldError `invalid_input` with the position and what is allowed there
 *
 * @example
 * ```ts
 * import { parseCondition } from 'lanefold/evals';
 *
 * console.log(parseCondition('score < baseline - 0.02'));
 * ```
 */
export function parseCondition(text: string): Condition {
  if (typeof text !== 'string' || text.length > maxLength)
    throw new LanefoldError('invalid_input', `A condition is a text of at most ${maxLength} characters.`);
  const tokens = tokensOf(text);
  let next = 0;
  const take = (): Token => tokens[Math.min(next++, tokens.length - 1)]!;
  const takeIf = (...texts: string[]): Token | undefined => (texts.includes(tokens[next]!.text) ? take() : undefined);
  const wrong = ({ position, kind, text: word }: Token, allowed: string): LanefoldError =>
    conditionError(
      text,
      position,
      kind === 'end' ? 'it ends too early' : `${JSON.stringify(word)} is unexpected`,
      allowed,
    );

  const metric = (token: Token): MetricName => {
    const { kind, text: name, position } = token;
    if (kind !== 'name') throw wrong(token, metricList);
    if (isMetric(name)) return name;
    const meant = closest(name, fixedMetrics);
    const what = `there is no metric ${JSON.stringify(name)}`;
    throw conditionError(text, position, meant ? `${what}; did you mean ${meant}?` : what, metricList);
  };
  const number = (): number => {
    const negative = takeIf('-') !== undefined;
    const token = take();
    if (token.kind !== 'number') throw wrong(token, 'a number');
    const value = Number(token.text);
    if (!Number.isFinite(value)) throw conditionError(text, token.position, 'the number is too large', 'a smaller one');
    // minus zero is zero
    return negative && value !== 0 ? -value : value;
  };
  const operand = (tested: MetricName): Operand => {
    const token = tokens[next]!;
    if (token.kind === 'number' || token.text === '-') return { number: number() };
    if (token.kind !== 'name' || (token.text !== 'baseline' && !token.text.startsWith('baseline.')))
      throw wrong(token, 'a number, baseline, or baseline.<metric>');
    take();
    const name = baselineMetric(token, tested);
    const sign = takeIf('+', '-');
    const size = sign ? number() : 0;
    return { baseline: name, offset: sign?.text === '-' && size !== 0 ? -size : size };
  };
  const baselineMetric = (token: Token, tested: MetricName): MetricName => {
    const rest = token.text.slice('baseline.'.length);
    const name = rest === '' ? tested : metric({ ...token, text: rest });
    if (!isDifference(name)) return name;
    throw conditionError(text, token.position, `${name} is a comparison with the baseline already`, 'a number');
  };
  const test = (): MetricTest => {
    const name = metric(take());
    const sign = take();
    if (!isComparator(sign.text)) throw wrong(sign, '<, <=, >, >=');
    return { metric: name, op: sign.text, operand: operand(name) };
  };
  const all = (): MetricTest[] => {
    const tests = [test()];
    while (takeIf('and')) tests.push(test());
    return tests;
  };
  const any = [all()];
  while (takeIf('or')) any.push(all());
  if (tokens[next]!.kind !== 'end') throw wrong(tokens[next]!, 'and, or, or the end');
  return any;
}

const isMetric = (name: string): name is MetricName =>
  fixedMetrics.includes(name) || (name.startsWith('score.') && scorerName.test(name.slice('score.'.length)));

const isComparator = (text: string): text is Comparator => ['<', '<=', '>', '>='].includes(text);

/** A metric of a variant, or of its comparison with the baseline (`difference`); `score.<scorer>` is one scorer's mean. */
export type MetricName =
  | 'pass_rate'
  | 'score'
  | 'cost'
  | 'p50_ms'
  | 'p95_ms'
  | 'failures'
  | 'unscored'
  | 'difference'
  | 'difference.low'
  | 'difference.high'
  | `score.${string}`;

export type Comparator = '<' | '<=' | '>' | '>=';

/** What a metric is compared with: a number, or a metric of the baseline plus an offset. */
export type Operand = { number: number } | { baseline: MetricName; offset: number };

/** `pass_rate < baseline - 0.02`. */
export interface MetricTest {
  metric: MetricName;
  op: Comparator;
  operand: Operand;
}

/** The outer list is joined by `or`, each inner one by `and`. */
export type Condition = MetricTest[][];

/** Whether a report meets a condition. */
export interface ConditionResult {
  /** True if a variant meets the condition, or if it cannot be decided because a metric has no value. */
  failed: boolean;
  /** What led to it, as sentences; empty if `failed` is false. */
  reasons: string[];
}

/** The metrics that already compare with the baseline, which itself has none of them. */
export const isDifference = (metric: MetricName): boolean => metric.startsWith('difference');

/**
 * The condition as text, which `parseCondition` reads as the same condition.
 *
 * @example
 * ```ts
 * import { parseCondition, printCondition } from 'lanefold/evals';
 *
 * console.log(printCondition(parseCondition('score<baseline - .02'))); // score < baseline - 0.02
 * ```
 */
export const printCondition = (condition: Condition): string =>
  condition.map((tests) => tests.map(printTest).join(' and ')).join(' or ');

export function printTest({ metric, op, operand }: MetricTest): string {
  if ('number' in operand) return `${metric} ${op} ${operand.number}`;
  const { baseline, offset } = operand;
  const name = baseline === metric ? 'baseline' : `baseline.${baseline}`;
  return `${metric} ${op} ${name}${offset === 0 ? '' : ` ${offset < 0 ? '-' : '+'} ${Math.abs(offset)}`}`;
}
