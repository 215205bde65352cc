import { expect, test } from 'vitest';
import { fillIn, unknownPlaceholder } from '../../src/schedules/template.ts';
import { quote } from '../../src/strategies/inquiry/quote.ts';
import { parseSupervision } from '../../src/strategies/trm/parse.ts';
import { growth, tooMuch } from './growth.ts';

const times = { slot: new Date(0), previous: new Date(0), timeZone: 'UTC' };

test.each<[string, (text: string) => unknown, Parameters<typeof growth>[1]]>([
  ['quote', (text) => quote('question', text), { before: '<', pump: ' ' }],
  ['unknownPlaceholder', unknownPlaceholder, { before: '{{', pump: '\t' }],
  ['fillIn', (text) => fillIn(text, times), { before: '{{', pump: '\t' }],
  ['parseSupervision', parseSupervision, { before: 'Issue:', pump: '*', after: '\u2028x' }],
])('%s', (_, read, worst) => {
  expect(growth(read, worst, 1_000_000)).toBeLessThan(tooMuch);
});
