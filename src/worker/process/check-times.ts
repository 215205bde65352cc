import { assertWhole } from '../../base/checks/whole-number.ts';
import type { WorkerOptions } from './options.ts';

/** From `minimum` to what PostgreSQL stores of a lease, 24 days; in ms. */
const longestMs = 2 ** 31 - 1;
const minimum = {
  leaseMs: 100,
  sweepMs: 1,
  keepJobsMs: 0,
  cancelGraceMs: 0,
  stopGraceMs: 0,
  unknownAgentMs: 0,
} as const satisfies Partial<Record<keyof WorkerOptions, number>>;

/** @throws LanefoldError `invalid_input` */
export function checkTimes(options: WorkerOptions): void {
  for (const [name, least] of Object.entries(minimum)) {
    const limits = { minimum: least, maximum: longestMs };
    assertWhole(options[name as keyof typeof minimum], name, { ...limits, hint: 'Omit it for the default.' });
  }
  assertWhole(options.webhookTimeoutMs, 'webhookTimeoutMs', {
    ...{ minimum: 100, maximum: 60_000 },
    hint: 'Omit it for the default of 10,000.',
  });
}
