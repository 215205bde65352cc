import { CaseView } from './case.tsx';
import { EvalView } from './eval.tsx';
import { EvalList } from './list.tsx';

export interface EvalsProps {
  /** Of an eval; absent: the list of all. */
  id: string | undefined;
  /** Of one of its cases. */
  caseId: string | undefined;
}

/** The evals, one of them, or a case of one. */
export function EvalsView({ id, caseId }: EvalsProps) {
  if (id === undefined) return <EvalList />;
  return caseId === undefined ? <EvalView id={id} /> : <CaseView evalId={id} caseId={caseId} />;
}
