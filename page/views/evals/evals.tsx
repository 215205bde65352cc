import { CaseView } from './case.tsx';
import { EvalView } from './eval.tsx';
import { EvalList } from './list.tsx';

export interface EvalsProps {
  /** Of an eval; absent: the list of all. */
  id: string | undefined;
  /** The id of one of its cases; or `variants`, to compare `variant` with the baseline. */
  part: string | undefined;
  variant: string | undefined;
}

/** The evals, one of them, or a case of one. */
export function EvalsView({ id, part, variant }: EvalsProps) {
  if (id === undefined) return <EvalList />;
  return part === undefined || part === 'variants' ? (
    <EvalView id={id} variant={variant} />
  ) : (
    <CaseView evalId={id} caseId={part} />
  );
}
