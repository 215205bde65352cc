import { createRoute, z } from '@hono/zod-openapi';
import type { NewEntry } from '../../runs/operations/threads/types.ts';
import { omitUndefined } from '../../base/common/json.ts';
import type { ApiApp } from '../env.ts';
import { toJson } from '../json.ts';
import { AppendEntries, AppendReceipt } from '../schemas/message.ts';
import { bodyProblems, problems } from '../schemas/problem.ts';
import { EntryPage } from '../schemas/thread.ts';
import { after, Id, limit } from '../schemas/values.ts';
import { body, idempotencyKey, json, keyOf, orMissing, replayed, replayedHeader, security, thread } from './shared.ts';

const tags = ['Entries'];

const listEntries = createRoute({
  method: 'get',
  path: '/v1/threads/{thread_id}/entries',
  operationId: 'listEntries',
  tags,
  security,
  summary: 'Read the log, ordered by seq',
  description: 'A page ends after `limit` entries or 4 MiB; pass its `next_after` as `after` to get the next one.',
  request: {
    params: thread,
    query: z.strictObject({
      after: after('entries', 'seq'),
      kind: Id.optional(),
      context_ref: Id.optional(),
      limit: limit(100),
    }),
  },
  responses: { 200: json('A page of entries.', EntryPage), ...problems(404, 410) },
});

const appendEntries = createRoute({
  method: 'post',
  path: '/v1/threads/{thread_id}/entries',
  operationId: 'appendEntries',
  tags,
  security,
  summary: 'Append messages or entries of your own kinds',
  description:
    'Appends all entries or none. Messages must form whole groups: each tool call is followed by its result, in call order.',
  request: { params: thread, headers: idempotencyKey, body: body(AppendEntries) },
  responses: {
    201: { ...json('The entries were appended.', AppendReceipt), ...replayedHeader },
    ...problems(...bodyProblems, 404, 409, 410, 422),
  },
});

export function addEntries(app: ApiApp): void {
  app.openapi(listEntries, async (c) => {
    const { thread_id: threadId } = c.req.valid('param');
    const { after: from, kind, context_ref: contextRef, limit: most = 100 } = c.req.valid('query');
    const page = await c.var.lanefold.threads.entryPage(
      threadId,
      omitUndefined({ after: from, kind, contextRef, limit: most }),
    );
    const data = (await orMissing(c.var.lanefold, threadId, page.entries)).map(toJson);
    return c.json({ data, next_after: page.nextAfter }, 200);
  });

  app.openapi(appendEntries, async (c) => {
    const { thread_id: threadId } = c.req.valid('param');
    const { entries, expected_rev: expectedRev, repair, op_id: opId } = c.req.valid('json');
    const key = keyOf(c.req.valid('header'), 'op_id', opId);
    const receipt = await c.var.lanefold.threads.append(
      threadId,
      entries.map(toNewEntry),
      omitUndefined({ expectedRev, repair, idempotencyKey: key }),
    );
    return c.json(toJson(receipt), 201, replayed(receipt.duplicate));
  });
}

function toNewEntry(entry: z.infer<typeof AppendEntries>['entries'][number]): NewEntry {
  const { context_ref: contextRef, refs } = entry;
  return entry.kind === 'ai_message'
    ? ({ message: entry.payload, ...omitUndefined({ contextRef, refs }) } as NewEntry)
    : (omitUndefined({ kind: entry.kind, payload: entry.payload, contextRef, refs }) as NewEntry);
}
