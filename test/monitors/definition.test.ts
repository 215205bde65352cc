import type { MonitorDefinition } from 'lanefold';
import { describe, expect, test } from 'vitest';
import { checkBody } from '../../src/base/operations/checked.ts';
import { monitors } from '../../src/features/monitors/declaration.ts';
import { readMonitor } from '../../src/features/monitors/definition/read-definition.ts';

/** As the library does. */
function read(definition: MonitorDefinition) {
  checkBody('monitors.set', monitors.operations.set, definition);
  return readMonitor(definition);
}

describe('the definition of a monitor', () => {
  test('has defaults, and names once', () => {
    expect(read({ scorers: ['short', 'polite', 'short'] })).toEqual({
      agents: [],
      sample: 0.1,
      scorers: ['polite', 'short'],
      rubric: null,
      judge: null,
      alert: null,
    });
    const judged = { rubric: 'Is polite.', judge: { agent: 'judge' }, alert: { below: 0.5 } };
    expect(read(judged)).toMatchObject({ judge: { agent: 'judge' }, alert: { below: 0.5, of: 50 } });
  });

  const judge = { agent: 'judge' };
  test.each<[field: string, definition: object]>([
    ['scorers', {}],
    ['scorers', { scorers: [] }],
    ['scorers.0', { scorers: ['not a name'] }],
    ['scorers', { scorers: 'short' }],
    ['agents.0', { scorers: ['short'], agents: [''] }],
    ['sample', { scorers: ['short'], sample: 0 }],
    ['sample', { scorers: ['short'], sample: 1.1 }],
    ['sample', { scorers: ['short'], sample: NaN }],
    ['judge', { rubric: 'Is polite.' }],
    ['rubric', { scorers: ['short'], judge }],
    ['rubric', { rubric: ' ', judge }],
    ['rubric', { rubric: 'x'.repeat(8_001), judge }],
    ['judge', { rubric: 'x', judge: 'judge' }],
    ['judge.agent', { rubric: 'x', judge: {} }],
    ['judge.model', { rubric: 'x', judge: { agent: 'judge', model: 5 } }],
    ['model', { rubric: 'x', judge: { agent: 'judge', model: ['a:x', 'a:x'] } }],
    ['alert', { scorers: ['short'], alert: 0.5 }],
    ['alert.below', { scorers: ['short'], alert: { below: 2 } }],
    ['alert.of', { scorers: ['short'], alert: { below: 0.5, of: 0 } }],
    ['alert.of', { scorers: ['short'], alert: { below: 0.5, of: 1.5 } }],
    ['definition', []],
  ])('is refused for an invalid %s', (field, definition) => {
    expect(() => read(definition as MonitorDefinition)).toThrow(
      expect.objectContaining({ code: 'invalid_input', details: expect.objectContaining({ field }) as object }),
    );
  });

  test('is refused for a key that it does not take, with the one that was meant', () => {
    const given = { scorer: ['short'] } as MonitorDefinition;
    expect(() => read(given)).toThrow(expect.objectContaining({ hint: 'Did you mean "scorers"?' }));
  });
});
