import type { Case } from '../../api/types.ts';

/** The fields of a report that the page shows. Scores and rates are 0 to 1, differences candidate minus baseline. */
export interface Report {
  baseline: string | null;
  variants: VariantResult[];
  comparisons: Comparison[];
}

export interface VariantResult {
  variant: string;
  items: number;
  scored: number;
  passed: number;
  score: number | null;
  scorers: { scorer: string; score: number | null; errors: number }[];
  failures: number;
  erased: number;
  unscored: number;
  pending: number;
  reused: number;
  cost_micros: number | null;
  unpriced: number;
  p50_ms: number | null;
  p95_ms: number | null;
}

export interface Comparison {
  baseline: string;
  candidate: string;
  verdict: 'better' | 'worse' | 'no_difference' | 'too_few_cases';
  cases: number;
  unpaired: number;
  difference: { mean: number | null; low: number | null; high: number | null };
  better: number;
  worse: number;
  same: number;
  by_tag: ComparedPart[];
  /** The cases that lost most come first. */
  by_case: ComparedCase[];
}

/** The cases with a tag, or of a part of the dataset. */
export interface ComparedPart {
  tag: string;
  cases: number;
  difference: { mean: number | null };
  worse: number;
}

export interface ComparedCase {
  case_id: string;
  tags: string[];
  baseline: number;
  candidate: number;
  difference: number;
  baseline_answer: ComparedAnswer;
  candidate_answer: ComparedAnswer;
}

export interface ComparedAnswer {
  answer: string | null;
  /** The error of the run, or the limit that ended it, and what the scorers said. */
  reasons: string[];
}

/** A case under every variant; `compared` has a place for each comparison, empty if the case does not count in it. */
export interface GridRow {
  caseId: string;
  tags: string[];
  compared: (ComparedCase | undefined)[];
  /** The comparison in which the case lost most. */
  worst: ComparedCase;
}

/** The cases of all comparisons: those that lost most under any variant come first. */
export function gridRows(comparisons: Comparison[]): GridRow[] {
  const rows = new Map<string, GridRow>();
  for (const [at, { by_case: cases }] of comparisons.entries())
    for (const one of cases) {
      const { case_id: caseId, tags } = one;
      const row = rows.get(caseId) ?? { caseId, tags, compared: comparisons.map(() => undefined), worst: one };
      row.compared[at] = one;
      if (one.difference < row.worst.difference) row.worst = one;
      rows.set(caseId, row);
    }
  return [...rows.values()].sort((a, b) => a.worst.difference - b.worst.difference);
}

/** Sums of equal scores in another order differ in their last digits. */
export const epsilon = 1e-9;

/** Mean differences by part; the report has them by tag only. */
export function partsOf({ by_case: compared }: Comparison, cases: Cases): ComparedPart[] {
  const found = new Map<string, number[]>();
  for (const { case_id: id, difference } of compared) {
    const part = cases.get(id)?.split;
    if (part) found.set(part, [...(found.get(part) ?? []), difference]);
  }
  return [...found].map(([tag, of]) => ({
    tag,
    cases: of.length,
    worse: of.filter((one) => one < -epsilon).length,
    difference: { mean: of.reduce((sum, one) => sum + one, 0) / of.length },
  }));
}

/** Where the candidate got worse, the largest loss first: tags, and the part of the dataset that has all of it. */
export function lostIn(comparison: Comparison, cases: Cases): ComparedPart[] {
  const parts = partsOf(comparison, cases);
  const whole = parts.length > 1 ? parts.filter(({ worse }) => worse === comparison.worse) : [];
  return [...whole, ...comparison.by_tag]
    .filter(({ worse }) => worse > 0)
    .sort((a, b) => a.difference.mean! - b.difference.mean!);
}

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

/** The beginning of its question, and the part of the dataset that it belongs to. */
export type KeptCase = Pick<Case, 'question' | 'split'>;

/** The cases of a dataset by their ids. */
export type Cases = ReadonlyMap<string, KeptCase>;
