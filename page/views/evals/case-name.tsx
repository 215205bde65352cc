import type { Cases } from './kept-cases.ts';

/** A case by its question, then its id; by its id alone where the log has no question. */
export const CaseName = ({ id, cases }: { id: string; cases: Cases }) => (
  <>
    {cases.get(id)?.question && <span class="preview">{cases.get(id)!.question}</span>}
    <span class="id">{id}</span>
  </>
);
