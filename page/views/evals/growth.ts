import type { Report, VariantResult } from './report.ts';

/** A variant that costs or takes this many times as much as the baseline is marked. */
const notable = 1.25;
/** Waits for a worker and a database vary by as much. */
const noiseMs = 500;

/** How many times as much a variant costs and takes as the baseline, where that is notable. */
export interface Growth {
  cost?: number;
  p50?: number;
  p95?: number;
  /** It has more failed runs. */
  fails: boolean;
}

export function growthOf({ baseline, variants }: Report, one: VariantResult): Growth {
  const base = variants.find(({ variant }) => variant === baseline);
  if (!base || base === one) return { fails: false };
  const paid = base.items === one.items && [base, one].every(({ reused, unpriced }) => reused + unpriced === 0);
  const cost = paid ? times(base.cost_micros, one.cost_micros) : undefined;
  const p50 = times(base.p50_ms, one.p50_ms, noiseMs);
  const p95 = times(base.p95_ms, one.p95_ms, noiseMs);
  return {
    ...(cost === undefined ? {} : { cost }),
    ...(p50 === undefined ? {} : { p50 }),
    ...(p95 === undefined ? {} : { p95 }),
    fails: one.failures > base.failures,
  };
}

function times(from: number | null, to: number | null, noise = 0): number | undefined {
  if (!from || !to || to - from < noise) return undefined;
  return to / from >= notable ? to / from : undefined;
}

export const timesText = (value: number): string => `${value.toFixed(1)}×`;
