import { newThreadId } from '../../base/checks/ids.ts';
import type { Library } from '../../features/library/library.ts';
import type { BranchOptions } from '../../runs/operations/threads/branch.ts';
import { callerOf } from '../access/limited-parties.ts';
import { withinRuns } from '../access/limit-runs.ts';
import type { ApiApp } from '../env.ts';
import { replayed } from '../routes/shared.ts';
import type { Handlers } from '../declared/routes.ts';
import type { ConfigReceipt } from '../../database/store/context/types.ts';

/** Characters of a large text that a request gets which does not say how many it wants. */
const defaultLength = 65_536;
/** Threads that a request erases which does not say how many it wants. */
const defaultErased = 100;

/** What the API does with threads beside calling the methods of their operations. */
export const threadHandlers = (app: ApiApp, { toolNames }: Pick<Library, 'toolNames'>): Handlers[string] => ({
  async create({ c, lanefold, call }) {
    const { id } = (await call()) as { id: string };
    c.header('Location', `/v1/threads/${id}`);
    return lanefold.threads.get(id);
  },

  async fork({ c, lanefold, options, call }) {
    const id = (options['id'] ??= newThreadId()) as string;
    await call();
    c.header('Location', `/v1/threads/${id}`);
    return lanefold.threads.get(id);
  },

  async branch({ c, lanefold, params, body, principal, answer }) {
    const by = { from: 'http' as const, ...callerOf(principal) };
    const start = () => lanefold.threads.branch(params['threadId']!, body as unknown as BranchOptions, by);
    const made = await (body['agent'] === undefined ? start() : withinRuns(c, app, start));
    if (made.run) c.header('Location', `/v1/threads/${made.run.threadId}/runs/${made.run.id}`);
    for (const [name, value] of Object.entries(replayed(made.duplicate))) c.header(name, value);
    return answer(made);
  },

  async configure({ call, answer }) {
    const receipt = (await call()) as ConfigReceipt;
    return answer(receipt, receipt.status === 'applied' ? 200 : 202);
  },

  readContent({ options, call }) {
    options['length'] ??= defaultLength;
    return call();
  },

  eraseTenant({ options, call }) {
    options['limit'] ??= defaultErased;
    return call();
  },

  async listTools({ lanefold, params, options }) {
    const { tools } = await lanefold.threads.config(params['threadId']!, options);
    return { ...tools, known: [...toolNames] };
  },
});
