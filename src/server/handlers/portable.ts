import { setImmediate as nextTurn } from 'node:timers/promises';
import { newThreadId } from '../../base/checks/ids.ts';
import { omitUndefined } from '../../base/common/json.ts';
import { hasMoreValues, maxValues } from '../../base/common/json-bytes.ts';
import { idsOf } from '../../database/store/tenant/tenant-settings.ts';
import { databaseOf } from '../../features/library/internals.ts';
import { refusedAt } from '../../runs/formats/portable/notes.ts';
import type { ThreadSource } from '../../runs/operations/threads/import.ts';
import type { ImportOptions } from '../../runs/operations/threads/types.ts';
import type { Handlers } from '../declared/routes.ts';
import { exportHeaders, sendExport } from '../export-stream.ts';
import type { LiveStreams } from '../live-streams.ts';
import { replayed } from '../routes/shared.ts';

/** Exports and imports of threads. */
export const portableHandlers = (streams: LiveStreams): Handlers[string] => ({
  async export({ c, lanefold, params }) {
    const id = params['threadId']!;
    const { threads } = lanefold;
    if (c.req.method !== 'HEAD') return sendExport(c, streams, threads.export(id));
    await threads.peek(id);
    return c.body(null, 200, exportHeaders);
  },

  async import({ c, lanefold, body, headers, answer }) {
    const { id: given, metadata, lines, ...rest } = body as ImportOptions & { lines?: string[] };
    const source = lines ? { ...rest, lines: inTurns(lines) } : rest;
    const ids = () => idsOf(databaseOf(lanefold, 'The API'));
    const key = headers['Idempotency-Key'];
    // keys contain no slash, so no run has this thread for the same key
    const id = given ?? (key === undefined ? newThreadId() : (await ids()).thread(`import/${key}`));
    // the schema lets only the source of the format pass
    const receipt = await lanefold.threads.import(source as unknown as ThreadSource, {
      id,
      ...omitUndefined({ metadata }),
      from: 'http',
    });
    const told = { Location: `/v1/threads/${receipt.id}`, ...replayed(receipt.duplicate) };
    for (const [name, value] of Object.entries(told)) c.header(name, value);
    return answer(receipt, receipt.duplicate ? 200 : 201);
  },
});

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
