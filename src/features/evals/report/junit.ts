import type { EvalItem } from '../store/types.ts';
import { countItem, sumOf } from './rule.ts';

/**
 * The items as JUnit XML, which continuous integration shows as test results: a suite per variant, a test per case. A
 * test fails if a repeat that counts does not pass, and has an error if a run failed; it is skipped if no repeat counts.
 *
 * @param options the name of the eval or its dataset; default `eval`
 *
 * @example
 * ```ts
 * import { toJUnit } from 'lanefold/evals';
 *
 * console.log(toJUnit([], { name: 'refunds' }));
 * ```
 */
export function toJUnit(items: readonly EvalItem[], { name = 'eval' }: { name?: string } = {}): string {
  const suites = groupBy(items, ({ variant }) => variant).map(([variant, own]) => {
    const tests = groupBy(own, ({ caseId }) => caseId).map(([caseId, repeats]) => testOf(caseId, repeats));
    const head = { name: variant, ...totals(tests) };
    const cases = tests.map((test) =>
      element('testcase', { name: test.caseId, classname: `${name}.${variant}`, time: seconds(test.ms) }, test.body),
    );
    return { tests, xml: element('testsuite', head, cases) };
  });
  const all = totals(suites.flatMap(({ tests }) => tests));
  const root = element(
    'testsuites',
    { name, ...all },
    suites.map(({ xml }) => xml),
  );
  return `<?xml version="1.0" encoding="UTF-8"?>\n${root}\n`;
}

interface Test {
  caseId: string;
  outcome: 'passed' | 'failure' | 'error' | 'skipped';
  ms: number;
  body: string[];
}

function testOf(caseId: string, unordered: EvalItem[]): Test {
  const repeats = unordered.toSorted((a, b) => a.repeat - b.repeat);
  const counted = repeats.filter((item) => countItem(item) !== null);
  const lost = counted.filter((item) => !countItem(item)!.passes);
  const ms = sumOf(repeats.map(({ durationMs }) => durationMs ?? 0));
  if (counted.length === 0) {
    const why = [...new Set(repeats.map((item) => whyLeftOut(item)))].join(', ');
    return { caseId, outcome: 'skipped', ms, body: [element('skipped', { message: why }, [])] };
  }
  if (lost.length === 0) return { caseId, outcome: 'passed', ms, body: [] };
  const outcome = lost.some(({ status }) => status === 'failed') ? 'error' : 'failure';
  const message = `${lost.length} of ${counted.length} repeat${counted.length === 1 ? '' : 's'} did not pass`;
  return { caseId, outcome, ms, body: [element(outcome, { message, type: outcome }, lost.map(details).join('\n'))] };
}

const whyLeftOut = ({ status }: EvalItem): string =>
  status === 'erased' || status === 'skipped' ? status : status === 'done' ? 'no scorer gave a score' : 'not ended';

const details = ({ repeat, answer, scores, error }: EvalItem): string =>
  [
    `Repeat ${repeat}: ${answer ?? '(no answer)'}`,
    ...(error === null ? [] : [`The run failed: ${error}`]),
    ...scores.map(
      ({ scorer, score, reason, error: failure }) =>
        `${scorer}: ${score ?? 'no score'}${(failure ?? reason) ? ` (${failure ?? reason})` : ''}`,
    ),
  ].join('\n');

const totals = (tests: Test[]): Attributes => {
  const count = (outcome: Test['outcome']) => String(tests.filter((test) => test.outcome === outcome).length);
  return {
    tests: String(tests.length),
    failures: count('failure'),
    errors: count('error'),
    skipped: count('skipped'),
    time: seconds(sumOf(tests.map(({ ms }) => ms))),
  };
};

const seconds = (ms: number): string => (ms / 1_000).toFixed(3);

function groupBy<T>(items: readonly T[], keyOf: (item: T) => string): [string, T[]][] {
  const groups = new Map<string, T[]>();
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item]);
  return [...groups];
}

type Attributes = Record<string, string>;

/** An element of XML 1.0. A text is escaped; a list consists of elements, each on a line. */
export function element(name: string, attributes: Attributes, content: string | string[]): string {
  const head = Object.entries(attributes).map(([key, value]) => ` ${key}="${escapeXml(value)}"`);
  const inner = typeof content === 'string' ? escapeXml(content, true) : content.map((each) => `\n${each}`).join('');
  if (inner === '') return `<${name}${head.join('')}/>`;
  return `<${name}${head.join('')}>${inner}${typeof content === 'string' ? '' : '\n'}</${name}>`;
}

/** Characters that XML 1.0 cannot contain, not even escaped. */
const impossible = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g;

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&apos;' };

/** @param lines whether line feeds and tabs stay; a parser turns those of an attribute into spaces, so they are escaped there */
const escapeXml = (text: string, lines = false): string =>
  text
    .toWellFormed()
    .replace(impossible, '\ufffd')
    .replace(/[&<>"']/g, (character) => entities[character]!)
    // a parser turns a bare carriage return into a line feed
    .replace(lines ? /\r/g : /[\r\n\t]/g, (character) => `&#${character.codePointAt(0)!};`);
