import type { ListedEvalItem } from '../../features/evals/store/types.ts';
import type { EvalReport } from '../../features/evals/report/report.ts';
import { toJson } from '../../features/evals/report/to-json.ts';
import type { Handler } from '../declared/routes.ts';

/** What the API does with evals beside calling the methods of their operations. */
export const evalHandlers: Record<'items' | 'report', Handler> = {
  async items({ call, options }) {
    const { limit = 100 } = options as { limit?: number };
    const data = (await call({ limit })) as ListedEvalItem[];
    return { data, nextAfter: data.length === limit ? data.at(-1)!.no : null };
  },

  report: async ({ call }) => toJson((await call()) as EvalReport),
};
