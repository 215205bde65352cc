import {
  MissingRequiredClientCapabilityError,
  type ServerContext,
  type CallToolResult,
  type InputRequests,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import { isLanefoldError } from '../../base/errors.ts';
import { clientOf, tasksExtension, type ClientAbilities, inputRequestsOf, respond } from './input.ts';
import {
  asProtocolError,
  invalidParams,
  getRun,
  runPath,
  type RunName,
  held,
  type McpContext,
  type RunJson,
} from './api.ts';
import { answerOf, rightsOf, whoEnds, type Rights, openCalls } from './runs.ts';
import { fitsAgent } from './agent-tool.ts';

const params = z.looseObject({ taskId: z.string() });

/** Answers `tasks/get`, `tasks/update` and `tasks/cancel` of the extension of tasks, for runs that tools have started. */
export function addTasks(mcp: McpContext): void {
  const { api, agents } = mcp;
  const { server } = mcp.server;
  server.registerCapabilities({ extensions: { [tasksExtension]: {} } });

  const about =
    <T extends object>(
      act: (task: { tool: string; run: RunName }, client: ClientAbilities, ctx: ServerContext) => Promise<T>,
    ) =>
    async ({ taskId }: z.infer<typeof params>, ctx: ServerContext): Promise<T> => {
      const client = clientOf(mcp.server, ctx);
      if (!client.tasks)
        throw new MissingRequiredClientCapabilityError({
          requiredCapabilities: { extensions: { [tasksExtension]: {} } },
        });
      const task = readTaskId(taskId);
      if (!task) throw notFound(taskId);
      return act(task, client, ctx).catch((error: unknown) => {
        if (missing.some((code) => isLanefoldError(error, code))) throw notFound(taskId);
        return asProtocolError(error);
      });
    };

  server.setRequestHandler(
    'tasks/get',
    { params },
    about(async ({ tool, run: name }, client) => {
      const run = await getRun(api, name);
      const agent = agents.find((one) => one.name === tool);
      const rights = await rightsOf(api, run);
      const requests = client.elicits ? inputRequestsOf(run, rights) : undefined;
      const result = () => answerOf(run, fitsAgent(agent, run.agent), rights);
      return held(mcp, { ...detailedTask(tool, run, { requests, rights, result }) });
    }),
  );
  server.setRequestHandler(
    'tasks/update',
    { params },
    about(async ({ run: name }, client, { mcpReq: { inputResponses = {} } }) => {
      await respond(api, await getRun(api, name), inputResponses, client.name);
      return {};
    }),
  );
  server.setRequestHandler(
    'tasks/cancel',
    { params },
    about(async ({ run: name }) => {
      await api.post(`${runPath(name)}/cancel`, {});
      return {};
    }),
  );
}

const missing = ['run_not_found', 'thread_not_found', 'thread_erased', 'invalid_request'] as const;

const notFound = (taskId: string) => invalidParams(`Task ${taskId.slice(0, 400)} was not found.`);

/** A client should not ask more often. */
const pollIntervalMs = 1_000;

interface TaskJson {
  taskId: string;
  status: 'working' | 'input_required' | 'completed' | 'cancelled';
  statusMessage: string;
  createdAt: string;
  lastUpdatedAt: string;
  /** Null: runs are kept. */
  ttlMs: null;
  pollIntervalMs: number;
}

interface DetailedTask extends TaskJson {
  inputRequests?: InputRequests;
  result?: CallToolResult & { resultType: 'complete' };
}

/** The id of a task: its tool and its run. Ids of agents, threads and runs have no slash. */
export const taskId = (tool: string, { thread_id: threadId, run_id: runId }: RunName): string =>
  `${tool}/${threadId}/${runId}`;

export function readTaskId(id: string): { tool: string; run: RunName } | undefined {
  const [tool, threadId, runId, ...more] = id.split('/');
  return tool && threadId && runId && more.length === 0
    ? { tool, run: { thread_id: threadId, run_id: runId } }
    : undefined;
}

/** The answer to a tool call that has become a task; the run is stored by then. */
export const createdTask = (tool: string, run: RunJson): CallToolResult =>
  ({ resultType: 'task', ...taskOf(tool, run) }) as unknown as CallToolResult;

/**
 * A run as a task. A failed run is a completed task whose result is an error, because `failed` stands for errors of the
 * protocol. It asks for input only with `requests`; otherwise it is working until another caller has decided.
 */
function taskOf(tool: string, run: RunJson, requests?: InputRequests): TaskJson {
  const { status, created_at: createdAt, waits } = run;
  const times = [createdAt, run.started_at, run.finished_at, ...waits.map(({ since }) => since)];
  return {
    taskId: taskId(tool, { thread_id: run.thread_id, run_id: run.id }),
    status: statusOf(run, requests),
    statusMessage: run.unattended?.message ?? `The run is ${status}.`,
    createdAt,
    lastUpdatedAt: times.filter((time) => time !== null).reduce((a, b) => (a > b ? a : b)),
    ttlMs: null,
    pollIntervalMs,
  };
}

/**
 * A task with what its status adds.
 *
 * @param result what the tool would have returned; for runs that have ended
 */
export function detailedTask(
  tool: string,
  run: RunJson,
  { requests, rights, result }: { requests: InputRequests | undefined; rights: Rights; result: () => CallToolResult },
): DetailedTask {
  const task = taskOf(tool, run, requests);
  if (task.status === 'completed') return { ...task, result: { ...result(), resultType: 'complete' } };
  if (task.status === 'input_required') return { ...task, inputRequests: requests! };
  const who = whoEnds(openCalls(run), rights);
  return who === '' ? task : { ...task, statusMessage: `${task.statusMessage} ${who}` };
}

function statusOf(run: RunJson, requests: InputRequests | undefined): TaskJson['status'] {
  if (run.status === 'completed' || run.status === 'failed') return 'completed';
  if (run.status === 'cancelled') return 'cancelled';
  return requests ? 'input_required' : 'working';
}
