// @module-tag slow
import { afterEach, expect, test, vi } from 'vitest';
import { cases } from '../support/cases.ts';

const looking = './processes/looking.ts';
const preflight = '../../src/worker/run/preflight.ts';

afterEach(() => {
  vi.doUnmock(looking);
  vi.doUnmock(preflight);
  vi.resetModules();
});

/** A simulation with modules of its own, in which some are replaced. */
async function simulated(seed: number) {
  vi.resetModules();
  const [{ simulate }, { Model }] = await Promise.all([import('./simulate.ts'), import('./model/model.ts')]);
  return simulate(new Model(), { seed, steps: 1_500 });
}

test.each(Array.from({ length: cases(2) }, (_, i) => i + 1))(
  'calls that begin before they are stored contradict no promise (seed %i)',
  async (seed) => {
    vi.doMock(looking, () => ({ looking: 'readOnly' }));
    const { found, events } = await simulated(seed);
    expect(found).toEqual([]);
    expect(JSON.stringify(events)).toContain('"replay":"readOnly"');
  },
);

test('a worker that begins all calls early is found', async () => {
  vi.doMock(preflight, async (load) => ({ ...(await load<object>()), mayBeginEarly: isRound }));
  const { found } = await simulated(1);
  expect(found.map(({ check }) => check)).toContain('now:stored-first');
});

const isRound = (_: unknown, { step, command }: { step?: { calls?: unknown }; command: { type: string } }): boolean =>
  step?.calls !== undefined && command.type === 'run_tools';
