import { expect, test } from 'vitest';
import { fillIn, unknownPlaceholder } from '../../src/features/schedules/definition/template.ts';

const times = {
  slot: new Date('2026-11-25T05:00:00Z'),
  previous: new Date('2026-10-24T04:00:00Z'),
  timeZone: 'Europe/Berlin',
};

test.each([
  ['Report of {{date}}', 'Report of 2026-11-25'],
  ['{{ time }} {{slot}}', '06:00 2026-11-25T06:00:00+01:00'],
  ['since {{previous}}', 'since 2026-10-24T06:00:00+02:00'],
  ['{{other}} {date} {{}}', '{{other}} {date} {{}}'],
])('%s', (text, filled) => {
  expect(fillIn(text, times)).toBe(filled);
});

test('UTC is written as Z', () => {
  expect(fillIn('{{slot}}', { ...times, timeZone: 'UTC' })).toBe('2026-11-25T05:00:00Z');
});

test('names that are none of ours are found', () => {
  expect(unknownPlaceholder('{{date}} {{ slot }}')).toBeUndefined();
  expect(unknownPlaceholder('{{date}} {{day}}')).toBe('day');
  expect(unknownPlaceholder('{{constructor}}')).toBe('constructor');
});
