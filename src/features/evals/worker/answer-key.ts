import type { JsonObject } from '../../../agent/context/message.ts';
import type { Database } from '../../../database/postgres/pool.ts';
import { readConfig } from '../../../database/store/context/read-config.ts';
import type { StoredRequest } from '../../../database/store/run/read-request.ts';
import { requestHash } from '../../../runs/operations/runs/enqueue-request.ts';
import type { StoredEval } from '../store/evals.ts';
import type { CaseRow, TakenItem } from '../store/items.ts';

/** What an item adds that does not change its answer: where it comes from, when it runs, and what it may cost. */
const noMatter = ['eval', 'retry_of', 'retry_of_thread', 'version', 'priority', 'max_cost'];

/**
 * Hash of everything that the answer to an item depends on: what was sent first, what the run was asked with, the configuration of
 * the thread, and what tools return.
 *
 * @param request of the run of the item
 * @param version the id of the agent's version that answers
 */
export async function answerKey(
  db: Database,
  { variants, tools, stubs }: StoredEval,
  item: Pick<TakenItem, 'variant' | 'repeat'>,
  source: CaseRow,
  { agent, strategy, model, options: given }: Pick<StoredRequest, 'agent' | 'strategy' | 'model' | 'options'>,
  version: string,
): Promise<string> {
  const { system_prompt: prompt } = variants.find(({ name }) => name === item.variant)!;
  const { kind, context_hash: context, thread_id: thread, run_id: run } = source;
  // the context has the prompt of the lane
  const { system_prompt: _, ...config } = await readConfig(db, thread, source.context_ref, source.seq);
  const options: JsonObject = { ...given };
  for (const key of noMatter) delete options[key];
  return requestHash({
    kind,
    context,
    repeat: item.repeat,
    prompt,
    config,
    agent,
    version,
    strategy,
    model,
    options,
    // the answer to a call has no tool results of its own
    ...(kind === 'call' ? {} : { tools, stubs, record: tools === 'recorded' ? [thread, run] : undefined }),
  });
}
