import type { StoredEval } from '../../store/eval/evals.ts';
import type { CaseRow, TakenItem } from '../../store/eval/items.ts';
import { requestHash } from '../../library/runs/enqueue-request.ts';

/** Hash of everything that the answer to an item depends on, if an agent of this version gives it. */
export function answerKey(
  { variants, tools, stubs }: StoredEval,
  item: Pick<TakenItem, 'agent' | 'variant' | 'repeat'>,
  source: CaseRow,
  asked: { version: string; model: string },
): string {
  const { context_policy: policy, system_prompt: prompt } = variants.find(({ name }) => name === item.variant)!;
  const { kind, context_hash: context, thread_id: thread, run_id: run } = source;
  return requestHash({
    ...{ kind, context, agent: item.agent, repeat: item.repeat, policy, prompt, ...asked },
    // the answer to a call has no tool results of its own
    ...(kind === 'call' ? {} : { tools, stubs, record: tools === 'recorded' ? [thread, run] : undefined }),
  });
}
