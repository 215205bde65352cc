import { MissingRequiredClientCapabilityError, type ServerContext } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { isLanefoldError } from '../../../base/errors.ts';
import { clientOf, tasksExtension, type ClientAbilities } from '../client.ts';
import { asProtocolError, invalidParams } from '../errors.ts';
import { inputRequestsOf } from '../input/requests.ts';
import { respond } from '../input/respond.ts';
import { getRun, runPath, type RunName } from '../api.ts';
import { answerOf } from '../runs/answer.ts';
import { rightsOf } from '../runs/rights.ts';
import { fitsAgent } from '../tools/agent-tool.ts';
import { held, type McpContext } from '../server-context.ts';
import { detailedTask, readTaskId } from './task.ts';

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
