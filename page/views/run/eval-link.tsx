import { get, v1 } from '../../api/client.ts';
import type { Thread } from '../../api/types.ts';
import { href } from '../../state/route.ts';
import { useLoaded } from '../../state/use-loaded.ts';

/** Leads back to the case that a run answers, if an eval has made its thread. */
export function EvalLink({ threadId }: { threadId: string }) {
  const loaded = useLoaded<Thread>((signal) => get(v1('threads', threadId), {}, signal), []);
  const { eval: id, eval_item: no, case: caseId } = loaded.data?.metadata ?? {};
  if (typeof no !== 'number') return null;
  return (
    <>
      <a href={href('evals', String(id))}>Eval</a> › <a href={href('evals', String(id), String(caseId))}>Case</a> ›{' '}
    </>
  );
}
