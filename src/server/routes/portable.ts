import { setImmediate as nextTurn } from 'node:timers/promises';
import { createRoute, z } from '@hono/zod-openapi';
import { newThreadId } from '../../base/checks/ids.ts';
import { hasMoreValues, maxValues } from '../../base/common/json-bytes.ts';
import { omitUndefined } from '../../base/common/json.ts';
import { databaseOf } from '../../features/library/database-of.ts';
import type { ThreadSource } from '../../runs/operations/threads/import.ts';
import { refusedAt } from '../../runs/formats/portable/refused.ts';
import { idsOf } from '../../database/store/tenant/derived-ids.ts';
import type { ApiApp } from '../env.ts';
import { exportHeaders, sendExport } from '../export-stream.ts';
import type { LiveStreams } from '../live-streams.ts';
import { ImportReceipt, NewImport } from '../schemas/import.ts';
import { bodyProblems, problems } from '../schemas/problem.ts';
import { body, idempotencyKey, json, replayed, replayedHeader, security, thread } from './shared.ts';

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
  request: { headers: idempotencyKey, body: body(NewImport) },
  responses: {
    200: { ...json('The same was imported before.', ImportReceipt), ...replayedHeader },
    201: json('The thread was created.', ImportReceipt),
    ...problems(...bodyProblems, 409, 410, 422),
  },
});

export function addPortable(app: ApiApp, streams: LiveStreams): void {
  app.openapi(exportThread, async (c) => {
    const { thread_id: id } = c.req.valid('param');
    const { threads } = c.var.lanefold;
    if (c.req.method !== 'HEAD') return (await sendExport(c, streams, threads.export(id))) as never;
    await threads.peek(id);
    return c.body(null, 200, exportHeaders) as never;
  });

  app.openapi(importThread, async (c) => {
    const { id: given, metadata, lines, ...rest } = c.req.valid('json');
    const source = lines ? { ...rest, lines: inTurns(lines) } : rest;
    const { threads } = c.var.lanefold;
    const ids = () => idsOf(databaseOf(c.var.lanefold, 'The API'));
    const key = c.req.valid('header')['Idempotency-Key'];
    // keys contain no slash, so no run has this thread for the same key
    const id = given ?? (key === undefined ? newThreadId() : (await ids()).thread(`import/${key}`));
    // the schema lets only the source of the format pass
    const receipt = await threads.import(
      source as ThreadSource,
      { id, ...omitUndefined({ metadata }) },
      { from: 'http' },
    );
    const headers = { Location: `/v1/threads/${receipt.id}`, ...replayed(receipt.duplicate) };
    return c.json(receipt, receipt.duplicate ? 200 : 201, headers);
  });
}

/** Other requests get a turn after so many characters of an import. */
const charsPerTurn = 65_536;

/** Lines are JSON within the JSON of the body, whose reader took each for one value. */
async function* inTurns(lines: readonly string[]): AsyncGenerator<string, void, void> {
  let chars = 0;
  for (const [at, line] of lines.entries()) {
    if (hasMoreValues(Buffer.from(line), maxValues))
      throw refusedAt(at + 1, `has more than ${maxValues} values: import it with the command line.`);
    yield line;
    chars += line.length;
    if (chars < charsPerTurn) continue;
    chars = 0;
    await nextTurn();
  }
}
