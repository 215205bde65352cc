import { createRoute, z } from '@hono/zod-openapi';
import type { Library, TenantLibrary } from '../../features/library/library.ts';
import { toPolicyOption } from '../../agent/policy/read-policy.ts';
import { omitUndefined } from '../../base/common/json.ts';
import type { ApiApp } from '../env.ts';
import { toJson } from '../json.ts';
import { bodyProblems, problems } from '../schemas/problem.ts';
import { Config, ConfigChange, ConfigReceipt, NewThread, Thread, ThreadPage, ToolList } from '../schemas/thread.ts';
import { afterCursor, atSeq, flag, Id, jsonText, limit, moment, word } from '../schemas/values.ts';
import { body, json, security, thread } from './shared.ts';
import { RunStatus } from '../schemas/run.ts';

const tags = ['Threads'];

const createThread = createRoute({
  method: 'post',
  path: '/v1/threads',
  operationId: 'createThread',
  tags,
  security,
  summary: 'Create a thread',
  request: { body: body(NewThread) },
  responses: { 201: json('The thread.', Thread), ...problems(...bodyProblems, 409, 410) },
});

const listThreads = createRoute({
  method: 'get',
  path: '/v1/threads',
  operationId: 'listThreads',
  tags,
  security,
  summary: 'List threads, newest or most recently asked first',
  request: {
    query: z.strictObject({
      tenant_id: Id.optional(),
      metadata: jsonText('Threads whose metadata contains this JSON object.', { customer: 7 }),
      agent: word('Threads whose latest run has this agent.'),
      status: RunStatus.optional().openapi({ param: { description: 'Threads whose latest run has this status.' } }),
      text: word('Threads in which users wrote these words, as in a web search: `refund -paid "order 42"`.'),
      created_after: moment('Threads created at this time or later.'),
      created_before: moment('Threads created before this time.'),
      order: z
        .enum(['created', 'asked'])
        .optional()
        .openapi({
          param: {
            description:
              '`created` (default): by creation. `asked`: by when the newest run was accepted; threads without runs by creation. For a ' +
              'tenant, `asked` lists the newest 5,000 threads; on a database distributed by Citus, it orders by creation.',
          },
        }),
      marks: flag('Count the marks of the newest ten runs of each thread.'),
      after: afterCursor,
      limit: limit(50),
    }),
  },
  responses: { 200: json('A page of threads.', ThreadPage), ...problems() },
});

const getThread = createRoute({
  method: 'get',
  path: '/v1/threads/{thread_id}',
  operationId: 'getThread',
  tags,
  security,
  summary: 'Read a thread',
  request: { params: thread },
  responses: { 200: json('The thread.', Thread), ...problems(404, 410) },
});

const laneAt = z.strictObject({ context_ref: Id.optional(), at_seq: atSeq });

const getConfig = createRoute({
  method: 'get',
  path: '/v1/threads/{thread_id}/config',
  operationId: 'getConfig',
  tags,
  security,
  summary: 'Read the configuration of a lane',
  request: { params: thread, query: laneAt },
  responses: { 200: json('The configuration.', Config), ...problems(404, 410) },
});

const changeConfig = createRoute({
  method: 'patch',
  path: '/v1/threads/{thread_id}/config',
  operationId: 'changeConfig',
  tags,
  security,
  summary: 'Change the system prompt, tools, tool context or context policy from the next run on',
  request: { params: thread, body: body(ConfigChange) },
  responses: {
    200: json('The change was applied.', ConfigReceipt),
    202: json('A run is active: the change is applied when it ends.', ConfigReceipt),
    ...problems(...bodyProblems, 404, 410, 422),
  },
});

const listTools = createRoute({
  method: 'get',
  path: '/v1/threads/{thread_id}/tools',
  operationId: 'listTools',
  tags,
  security,
  summary: 'List the tools that a thread adds to or removes from its agents',
  request: { params: thread, query: laneAt },
  responses: { 200: json('The tools.', ToolList), ...problems(404, 410) },
});

export function addThreads(app: ApiApp, { toolNames }: Pick<Library, 'toolNames'>): void {
  app.openapi(createThread, async (c) => {
    const { id, tenant_id: tenantId, system_prompt: systemPrompt, metadata } = c.req.valid('json');
    const options = omitUndefined({ id, tenantId, systemPrompt, metadata });
    const created = await c.var.lanefold.threads.create(options, { from: 'http' });
    return c.json(toJson(await c.var.lanefold.threads.get(created.id)), 201, { Location: `/v1/threads/${created.id}` });
  });

  app.openapi(listThreads, async (c) => {
    const query = c.req.valid('query');
    const { data, nextAfter } = await c.var.lanefold.threads.list(
      omitUndefined({
        ...{ tenantId: query.tenant_id, metadata: query.metadata, agent: query.agent, status: query.status },
        ...{ text: query.text, createdAfter: query.created_after, createdBefore: query.created_before },
        ...{ order: query.order, marks: query.marks, after: query.after, limit: query.limit },
      }),
    );
    const threads = data.map((item) => ({
      ...toJson(item),
      last_run: item.lastRun && toJson(item.lastRun),
      marks: item.marks && item.marks.map(toJson),
    }));
    return c.json({ data: threads, next_after: nextAfter }, 200);
  });

  app.openapi(getThread, async (c) => {
    const found = await c.var.lanefold.threads.get(c.req.valid('param').thread_id);
    return c.json(toJson(found), 200);
  });

  const config = async (
    { threads }: TenantLibrary,
    threadId: string,
    { context_ref: contextRef, at_seq: seq }: z.infer<typeof laneAt>,
  ) => {
    await threads.peek(threadId);
    return threads.config(threadId, omitUndefined({ contextRef, atSeq: seq }));
  };

  app.openapi(getConfig, async (c) =>
    c.json(toJson(await config(c.var.lanefold, c.req.valid('param').thread_id, c.req.valid('query'))), 200),
  );

  app.openapi(changeConfig, async (c) => {
    const changes = c.req.valid('json');
    const receipt = await c.var.lanefold.threads.configure(
      c.req.valid('param').thread_id,
      omitUndefined({
        systemPrompt: changes.system_prompt,
        toolContext: changes.tool_context,
        registerTools: changes.register_tools,
        unregisterTools: changes.unregister_tools,
        contextPolicy: changes.context_policy && toPolicyOption(changes.context_policy),
        contextRef: changes.context_ref,
      }),
      { from: 'http', by: c.var.principal.actor },
    );
    return c.json(toJson(receipt), receipt.status === 'applied' ? 200 : 202);
  });

  app.openapi(listTools, async (c) => {
    const { tools } = await config(c.var.lanefold, c.req.valid('param').thread_id, c.req.valid('query'));
    return c.json({ ...tools, known: [...toolNames] }, 200);
  });
}
