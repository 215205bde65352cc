import { createRoute, z } from '@hono/zod-openapi';
import { omitUndefined } from '../../base/common/json.ts';
import type { ApiApp } from '../env.ts';
import { problems } from '../schemas/problem.ts';
import { UiMessagePage } from '../schemas/ui-message.ts';
import { afterCursor, Id, limit } from '../schemas/values.ts';
import { json, security, thread } from './shared.ts';

const listUiMessages = createRoute({
  method: 'get',
  path: '/v1/threads/{thread_id}/ui-messages',
  operationId: 'listUiMessages',
  tags: ['Entries'],
  security,
  summary: 'Read the conversation of a lane as messages of the AI SDK',
  description:
    'Returns the newest `limit` questions with their answers, in the order of the conversation; pass `next_after` as `after` for earlier ones.',
  request: {
    params: thread,
    query: z.strictObject({ after: afterCursor, context_ref: Id.optional(), limit: limit(50) }),
  },
  responses: { 200: json('A page of messages.', UiMessagePage), ...problems(404, 410) },
});

export function addUiMessages(app: ApiApp): void {
  app.openapi(listUiMessages, async (c) => {
    const { thread_id: threadId } = c.req.valid('param');
    const { after, context_ref: contextRef, limit: most } = c.req.valid('query');
    const page = await c.var.lanefold.threads.uiMessages(threadId, omitUndefined({ after, contextRef, limit: most }));
    return c.json(
      { data: page.data as unknown as z.infer<typeof UiMessagePage>['data'], next_after: page.nextAfter },
      200,
    );
  });
}
