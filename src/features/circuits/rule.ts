import { refuseUnknownKeys, type KeysOf } from '../../base/checks/unknown-keys.ts';
import { assertWhole } from '../../base/checks/values.ts';
import { LanefoldError } from '../../base/errors.ts';

/** When workers hold back the calls of a model whose provider fails, and how they find out that it works again. */
export interface CircuitOptions {
  /** How far back calls count, in ms; default 30,000. */
  windowMs?: number;
  /** The circuit opens when at least this share of the calls failed; default 0.5. */
  share?: number;
  /** And when there were at least this many calls; default 10. */
  minCalls?: number;
  /** How long it stays open before a call probes, in ms, unless the provider says when it may be called; default 5,000. */
  openMs?: number;
  /**
   * How long calls that fail while it is open cost their runs no retry, in ms; default 600,000. After that, runs whose calls
   * probe end as without a circuit.
   */
  patienceMs?: number;
}

/** The same, complete, as every process of an installation should have it. */
export type CircuitRule = Required<CircuitOptions> & {
  /** How long the worker that probes is waited for without a word from it. */
  probeMs: number;
};

const day = 86_400_000;
const optionKeys: KeysOf<CircuitOptions> = {
  windowMs: true,
  share: true,
  minCalls: true,
  openMs: true,
  patienceMs: true,
};

/** @param given false: workers neither count calls nor hold them back @throws LanefoldError `invalid_input` */
export function circuitRule(given: CircuitOptions | false = {}): CircuitRule | undefined {
  if (given === false) return undefined;
  refuseUnknownKeys('circuits', given, optionKeys);
  const { windowMs = 30_000, share = 0.5, minCalls = 10, openMs = 5_000, patienceMs = 600_000 } = given;
  const hint = 'Omit it for the default, or pass circuits: false to do without circuits.';
  assertWhole(windowMs, 'circuits.windowMs', { minimum: 100, maximum: day, hint });
  assertWhole(minCalls, 'circuits.minCalls', { minimum: 1, maximum: 1_000_000, hint });
  assertWhole(openMs, 'circuits.openMs', { minimum: 10, maximum: day, hint });
  assertWhole(patienceMs, 'circuits.patienceMs', { minimum: 0, maximum: 30 * day, hint });
  if (!(share > 0 && share <= 1)) {
    throw new LanefoldError('invalid_input', `circuits.share must be above 0 and at most 1; it is ${String(share)}.`, {
      hint,
      details: { field: 'circuits.share' },
    });
  }
  return { windowMs, share, minCalls, openMs, patienceMs, probeMs: 30_000 };
}
