import { createRoute, z } from '@hono/zod-openapi';
import { newThreadId } from '../../checks/ids.ts';
import { omitUndefined } from '../../common/omit-undefined.ts';
import type { ThreadSource } from '../../library/threads/import.ts';
import type { ApiApp } from '../env.ts';
import { ImportReceipt, NewImport } from '../schemas/import.ts';
import { bodyProblems, problems } from '../schemas/problem.ts';
import { body, json, security, thread } from './shared.ts';

const tags = ['Threads'];

const exportThread = createRoute({
  method: 'get',
  path: '/v1/threads/{thread_id}/export',
  operationId: 'exportThread',
  tags,
  security,
  summary: 'Export a thread as JSON Lines',
  description:
    'The entries as they are stored, the large texts they quote, and the runs, one JSON object per line, each with a hash. ' +
    'An export whose last line is not of the type `head` was cut off.',
  request: { params: thread },
  responses: {
    200: { description: 'The lines.', content: { 'application/x-ndjson': { schema: z.string() } } },
    ...problems(404, 410),
  },
});

const importThread = createRoute({
  method: 'post',
  path: '/v1/threads/import',
  operationId: 'importThread',
  tags,
  security,
  summary: 'Create a thread from an export, or from a history of OpenAI or the AI SDK',
  description:
    'The thread appears when it is complete. What sets its prompt, tools, tool context or policy must be overridable in every agent.',
  request: { body: body(NewImport) },
  responses: {
    200: json('The same was imported before.', ImportReceipt),
    201: json('The thread was created.', ImportReceipt),
    ...problems(...bodyProblems, 409, 410, 422),
  },
});

export function addPortable(app: ApiApp): void {
  app.openapi(exportThread, async (c) => {
    const { thread_id: id } = c.req.valid('param');
    const lines = c.var.lanefold.threads.export(id);
    // a thread that does not exist is an answer, not a stream
    const first = await lines.next();
    const chunks = ReadableStream.from(encoded(first.value as string, lines));
    return c.body(chunks, 200, { 'content-type': 'application/x-ndjson; charset=utf-8' }) as never;
  });

  app.openapi(importThread, async (c) => {
    const { id = newThreadId(), metadata, ...source } = c.req.valid('json');
    // the schema lets only the source of the format pass
    const { threads } = c.var.lanefold;
    const receipt = await threads.import(
      source as ThreadSource,
      { id, ...omitUndefined({ metadata }) },
      { from: 'http' },
    );
    return c.json(receipt, receipt.duplicate ? 200 : 201, { Location: `/v1/threads/${receipt.id}` });
  });
}

/** Reads the next line when the client has taken the one before. */
async function* encoded(
  first: string,
  rest: AsyncIterable<string>,
): AsyncGenerator<Uint8Array<ArrayBuffer>, void, void> {
  const encoder = new TextEncoder();
  yield encoder.encode(`${first}\n`);
  for await (const line of rest) yield encoder.encode(`${line}\n`);
}
