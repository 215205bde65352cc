import fc from 'fast-check';
import { reportOf, toMarkdown, type EvalItem } from 'lanefold/evals';
import { micromark } from 'micromark';
import { gfmTable, gfmTableHtml } from 'micromark-extension-gfm-table';
import { expect, test } from 'vitest';
import { itemOf, repeatsOf, scoreOf } from './items.ts';
import { cases } from '../support/cases.ts';

const ids = (n: number) => Array.from({ length: n }, (_, i) => `case_${i}`);
const both = (n: number, b: number, fields: Partial<EvalItem> = {}) =>
  ids(n).flatMap((id) => [...repeatsOf(id, 'a', [1], fields), ...repeatsOf(id, 'b', [b], fields)]);
const firstLine = (items: EvalItem[]) => toMarkdown(reportOf(items)).split('\n')[0];

test.each([
  ['worse', both(8, 0.5), '**`b` is worse than `a`: the score differs by -0.500 in every case over 8 cases.**'],
  ['the same', both(8, 1), '**No difference between `b` and `a` is shown: each of the 8 cases scored the same.**'],
  [
    'too few',
    both(1, 0.5),
    '**Too few cases to compare `b` with `a`: the score differs by -0.500 over 1 case, and a verdict needs 6 cases.**',
  ],
  [
    'without common cases',
    [itemOf(), itemOf({ variant: 'b', caseId: 'other' })],
    '**`b` and `a` have no case in common that counts.**',
  ],
  ['alone', [itemOf()], '**`a` passes 1 of 1 item, with a mean score of 1.000.**'],
  ['unscored', [itemOf({ scores: [] })], '**No item of `a` counts.**'],
  ['empty', [], '**The eval has no items.**'],
])('begins with the verdict: %s', (_, items, line) => {
  expect(firstLine(items)).toBe(line);
});

test('has the tables, what was left out, and the cases that got worse', () => {
  const items = [
    ...both(6, 1, { tags: ['refund'] }),
    itemOf({ caseId: 'lost', tags: ['late'] }),
    itemOf({
      caseId: 'lost',
      tags: ['late'],
      variant: 'b',
      answer: 'I am not sure.',
      scores: [scoreOf(0, { reason: 'No sum.' })],
    }),
    itemOf({ caseId: 'gone', status: 'erased' }),
    itemOf({
      caseId: 'broken',
      variant: 'b',
      scores: [scoreOf(null, { scorer: 'judge', error: 'no answer' })],
      costMicros: null,
    }),
  ];
  expect(toMarkdown(reportOf(items))).toMatchInlineSnapshot(`
    "**No difference between \`b\` and \`a\` is shown: the score differs by -0.143 (95 % interval -0.492 to +0.207) over 7 cases.**

    | variant | pass rate | score | \`answer\` | \`judge\` | items | failed | left out | diverged | reused | cost | tokens in / out | p50 | p95 |
    | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
    | \`a\` | 100.0 % | 1.000 | 1.000 | – | 8 | 0 | 1 | 0 | 0 | $0.0008 | 630 / 56 | 800 ms | 800 ms |
    | \`b\` | 85.7 % | 0.857 | 0.857 | – | 8 | 0 | 1 | 0 | 0 | at least $0.0008 | 720 / 64 | 800 ms | 800 ms |

    > Of \`a\`, these items are left out: 1 erased.

    > Of \`b\`, these items are left out: 1 without a score.

    > The scorer \`judge\` failed on 1 item of \`b\`.

    ### \`b\` against \`a\`

    | tag | cases | difference of the score | better | worse | same |
    | --- | ---: | ---: | ---: | ---: | ---: |
    | **all cases** | 7 | -0.143 (95 % interval -0.492 to +0.207) | 0 | 1 | 6 |
    | \`late\` | 1 | -1.000 (too few cases) | 0 | 1 | 0 |
    | \`refund\` | 6 | 0.000 in every case | 0 | 0 | 6 |

    The pass rate differs by -0.143 (95 % interval -0.492 to +0.207).

    <details><summary>Case <code>lost</code>: -1.000</summary>

    Answers of repeat 1. \`a\`, score 1.000:

    \`\`\`text
    20 €
    \`\`\`

    \`b\`, score 0.000:

    \`\`\`text
    I am not sure.
    — answer: No sum.
    \`\`\`

    </details>

    <sub>Intervals: bootstrap over cases, 2000 resamples, seed 1. An item passes if each of its scores is at least 0.5; a failed run scores 0.</sub>
    "
  `);
});

test('warns when several variants are compared at once', () => {
  const items = ['a', 'b', 'c', 'd'].flatMap((variant) => repeatsOf('case_1', variant, [1]));
  expect(toMarkdown(reportOf(items))).toContain('3 variants are compared with the baseline');
});

test('shows as many cases as asked for', () => {
  const report = reportOf(both(8, 0));
  expect(toMarkdown(report, { cases: 2 }).match(/<details>/g)).toHaveLength(2);
  expect(toMarkdown(report, { cases: 2 })).toContain('6 more cases got worse.');
  expect(toMarkdown(report, { cases: 0 })).not.toContain('<details>');
});

test('text of users and models changes nothing about the report', () => {
  const render = (text: string) =>
    micromark(text, { allowDangerousHtml: true, extensions: [gfmTable()], htmlExtensions: [gfmTableHtml()] });
  const parts = fc.constantFrom(
    ...[
      '`',
      '```',
      '~~~',
      '|',
      '\\',
      '\n',
      '\n\n',
      '<img src=x>',
      '</details>',
      '<!--',
      '[a](b)',
      '@user',
      '# ',
      '&lt;',
      ' ',
      'x',
    ],
  );
  const text = fc.array(parts, { minLength: 1, maxLength: 8 }).map((all) => all.join(''));
  fc.assert(
    fc.property(fc.record({ caseId: text, tag: text, variant: text, scorer: text, answer: text }), (given) => {
      const reportWith = ({ caseId, tag, variant, scorer, answer }: typeof given) => {
        const fields = { caseId, tags: [tag], answer };
        const reason = { scorer, reason: answer };
        return toMarkdown(
          reportOf([
            itemOf({ ...fields, scores: [scoreOf(1, reason)] }),
            itemOf({ ...fields, variant: `${variant}!`, scores: [scoreOf(0, reason)] }),
          ]),
        );
      };
      // all text is in code, whose content is taken away
      const frame = (markdown: string) => render(markdown).replaceAll(/<code[^>]*>[^]*?<\/code>/g, '<code/>');
      const plain = { caseId: 'c', tag: 't', variant: 'v', scorer: 's', answer: 'w' };
      expect(frame(reportWith(given))).toBe(frame(reportWith(plain)));
    }),
    { numRuns: cases(15) },
  );
});
