import { expect, test } from 'vitest';
import { pulse, Stalls } from '../../../src/worker/process/heartbeat.ts';
import { until } from '../../support/until.ts';

const leaseMs = 400;

/** Blocks the event loop and uses no processor, as `execSync` and file systems do that do not answer. */
const sleep = (ms: number): string => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

test('a call that sleeps without yielding keeps its worker busy', async () => {
  const before = pulse.aliveMs();
  await until('the process counts its time', () => pulse.aliveMs() > before);
  const stalls = new Stalls(leaseMs);
  sleep(10 * leaseMs);
  stalls.look();
  expect(stalls.untold).toMatchObject([{ kind: 'busy' }]);
});

test('a process whose threads all stand still is frozen', () => {
  const { aliveMs } = pulse;
  try {
    pulse.aliveMs = () => 0;
    const stalls = new Stalls(leaseMs);
    sleep(2 * leaseMs);
    stalls.look();
    expect(stalls.untold).toMatchObject([{ kind: 'frozen' }]);
  } finally {
    pulse.aliveMs = aliveMs;
  }
});
