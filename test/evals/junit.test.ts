import { toJUnit } from 'lanefold/evals';
import { expect, test } from 'vitest';
import { itemOf, scoreOf } from './items.ts';

test('has a suite per variant and a test per case', () => {
  const wrong = scoreOf(0, { reason: 'Expected "20 €".' });
  const items = [
    itemOf({ caseId: 'passes' }),
    itemOf({ caseId: 'passes', repeat: 2 }),
    itemOf({ caseId: 'wavers', repeat: 2, answer: 'a <b>\n& more', scores: [wrong] }),
    itemOf({ caseId: 'wavers' }),
    itemOf({ caseId: 'breaks', status: 'failed', answer: null, scores: [], error: 'timeout', durationMs: null }),
    itemOf({ caseId: 'gone', status: 'erased', durationMs: null }),
    itemOf({ caseId: 'gone', status: 'done', repeat: 2, scores: [], durationMs: null }),
    itemOf({ caseId: 'passes', variant: 'b "new"' }),
  ];
  expect(toJUnit(items, { name: 'refunds' })).toMatchInlineSnapshot(`
    "<?xml version="1.0" encoding="UTF-8"?>
    <testsuites name="refunds" tests="5" failures="1" errors="1" skipped="1" time="4.000">
    <testsuite name="a" tests="4" failures="1" errors="1" skipped="1" time="3.200">
    <testcase name="passes" classname="refunds.a" time="1.600"/>
    <testcase name="wavers" classname="refunds.a" time="1.600">
    <failure message="1 of 2 repeats did not pass" type="failure">Repeat 2: a &lt;b&gt;
    &amp; more
    answer: 0 (Expected &quot;20 €&quot;.)</failure>
    </testcase>
    <testcase name="breaks" classname="refunds.a" time="0.000">
    <error message="1 of 1 repeat did not pass" type="error">Repeat 1: (no answer)
    The run failed: timeout</error>
    </testcase>
    <testcase name="gone" classname="refunds.a" time="0.000">
    <skipped message="erased, no scorer gave a score"/>
    </testcase>
    </testsuite>
    <testsuite name="b &quot;new&quot;" tests="1" failures="0" errors="0" skipped="0" time="0.800">
    <testcase name="passes" classname="refunds.b &quot;new&quot;" time="0.800"/>
    </testsuite>
    </testsuites>
    "
  `);
});

test('without items is an empty document', () => {
  expect(toJUnit([])).toBe(
    '<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="eval" tests="0" failures="0" errors="0" skipped="0" time="0.000"/>\n',
  );
});

test('replaces characters that XML cannot contain, and escapes the others', () => {
  const xml = toJUnit([
    itemOf({ caseId: '\u0000\ud800\ufffe<&>"\'\r\n\t', scores: [scoreOf(0)], answer: ']]>\u001b\r\n' }),
  ]);
  expect(xml).toContain('name="\ufffd\ufffd\ufffd&lt;&amp;&gt;&quot;&apos;&#13;&#10;&#9;"');
  expect(xml).toContain('>Repeat 1: ]]&gt;\ufffd&#13;\n\nanswer: 0</failure>');
});
