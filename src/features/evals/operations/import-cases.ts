import { assertId } from '../../../base/checks/ids.ts';
import { idsOf } from '../../../database/store/tenant/tenant-settings.ts';
import { omitUndefined } from '../../../base/common/json.ts';
import type { JsonObject } from '../../../agent/context/message.ts';
import { isLanefoldError, LanefoldError } from '../../../base/errors.ts';
import { readCaseLine, refusedLine, type PortableCase } from '../cases/case-line.ts';
import type { Database } from '../../../database/postgres/pool.ts';
import { keepCase, casesOfContexts, contextProblem, contextSeq, importContext } from '../store/cases.ts';
import type { ImportedCases, SkippedCase } from './methods.ts';

/** In characters, as of an imported thread: the file is read into memory. */
const longestFile = 128 * 1024 * 1024;

interface Into {
  dataset: string;
  tenant: string;
  by: string;
}

interface Numbered extends PortableCase {
  line: number;
}

/** See `Cases.import`. */
export async function importCases(
  db: Database,
  into: Into,
  lines: Iterable<string> | AsyncIterable<string>,
): Promise<ImportedCases> {
  assertId(into.dataset, 'The dataset');
  const given = await readLines(lines);
  for (const { line, messages } of given) {
    const problem = await contextProblem(db, messages[0]!.role === 'system' ? messages.slice(1) : messages);
    if (problem !== undefined) throw refusedLine(line, `has messages that cannot be a context: ${problem}`);
  }
  const there = await presentIn(db, into, given);
  const skipped: SkippedCase[] = [];
  const own = new Set<string>();
  let imported = 0;
  for (const each of given) {
    const key = keyOf(each);
    const found = there.get(key);
    const because = found
      ? found.erased
        ? 'erased'
        : 'exists'
      : own.has(key)
        ? 'repeated'
        : await write(db, into, each);
    own.add(key);
    if (because === 'imported') imported += 1;
    else skipped.push({ line: each.line, because, caseId: found?.id ?? null });
  }
  return { dataset: into.dataset, imported, skipped };
}

async function readLines(lines: Iterable<string> | AsyncIterable<string>): Promise<Numbered[]> {
  const given: Numbered[] = [];
  let chars = 0;
  let line = 0;
  for await (const text of isIterable(lines) ? lines : noLines()) {
    line += 1;
    chars += text.length;
    if (chars > longestFile) throw refusedLine(line, `is beyond ${longestFile} characters, the most of an import`);
    if (text.trim() !== '') given.push({ line, ...readCaseLine(text, line) });
  }
  if (given.length === 0) noLines();
  return given;
}

const isIterable = (value: unknown): value is Iterable<string> | AsyncIterable<string> =>
  typeof value === 'object' && value !== null && (Symbol.iterator in value || Symbol.asyncIterator in value);

function noLines(): never {
  throw new LanefoldError('invalid_input', 'There are no lines to import.', {
    hint: 'Nothing was imported. Pass the lines that cases.export yields, as an iterable of texts.',
    details: { field: 'lines' },
  });
}

const keyOf = ({ agent, contextHash }: Pick<PortableCase, 'agent' | 'contextHash'>): string =>
  JSON.stringify([agent, contextHash]);

async function presentIn(db: Database, into: Into, given: readonly Numbered[]) {
  const hashes = [...new Set(given.map(({ contextHash }) => contextHash))];
  const found = await casesOfContexts(db, { ...into, hashes });
  return new Map(found.map((each) => [keyOf(each), each]));
}

/** The thread first: if this process dies in between, the next import finds it. */
async function write(
  db: Database,
  { dataset, tenant, by }: Into,
  { messages, contextHash, agent, model, expected, tags, split, note }: Numbered,
): Promise<'imported' | 'exists' | 'erased'> {
  const { threadId, id } = (await idsOf(db, tenant)).case(JSON.stringify([dataset, agent, contextHash]));
  try {
    await importContext(db, { threadId, tenant, hash: contextHash, messages });
  } catch (error) {
    if (isLanefoldError(error, 'thread_erased')) return 'erased';
    throw error;
  }
  const labels = omitUndefined({ expected: expected ?? undefined, split: split ?? undefined, note: note ?? undefined });
  const p = {
    dataset,
    kind: 'call',
    thread_id: threadId,
    seq: contextSeq,
    context_ref: 'default',
    context_hash: contextHash,
    agent,
    model,
    tags,
    by,
    ...labels,
  };
  const { kept } = await keepCase(db, tenant, id, p as unknown as JsonObject);
  return kept ? 'imported' : 'exists';
}
