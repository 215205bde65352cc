import type { Eval } from '../../api/types.ts';
import { Breakdown } from './breakdown.tsx';
import { Changed } from './changed.tsx';
import { Pairs } from './pairs.tsx';
import type { Comparison, Report } from './report.ts';
import { VerdictLine } from './summary.tsx';
import type { Cases } from './kept-cases.ts';
import { VariantTable } from './variant-table.tsx';

interface ComparisonProps {
  found: Eval;
  report: Report;
  comparison: Comparison;
  cases: Cases;
}

/** One variant and the baseline: the verdict, what changed, and where it got worse. */
export function ComparisonView({ found, report, comparison, cases }: ComparisonProps) {
  const { baseline, candidate } = comparison;
  return (
    <>
      <h2>
        {candidate} compared with {baseline}
      </h2>
      <p>
        <VerdictLine report={report} comparison={comparison} cases={cases} />
      </p>
      <Changed found={found} comparison={comparison} />
      <VariantTable
        id={found.id}
        report={report}
        variants={report.variants.filter(({ variant }) => variant === baseline || variant === candidate)}
      />
      <Breakdown comparison={comparison} cases={cases} />
      <Pairs id={found.id} comparison={comparison} cases={cases} />
    </>
  );
}
