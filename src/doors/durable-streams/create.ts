import { idGrammar } from '../../base/checks/ids.ts';
import { LanefoldError } from '../../base/errors.ts';
import type { Database } from '../../database/postgres/pool.ts';
import { createStream, type NewStream, type StreamRef } from '../../database/store/stream/streams.ts';
import { invalid, streamNotFound } from './errors.ts';
import { jsonType, toData } from './messages.ts';
import type { Readable } from './page.ts';
import { isTrue, readContentType, readFork, readLifetime, type ForkHeaders, type StreamRequest } from './request.ts';
import { streamHeaders, type Answer } from './answer.ts';

/** Opens the stream that a fork is made of. */
export type OpenSource = (source: Source) => Readable;

/** What a path names: a stream, or the trace of the thread or one of its runs. */
export type Source = { name: string } | { runId: string | undefined };

/** Creates a stream, or finds the one that the same request created before. */
export async function create(
  db: Database,
  ref: StreamRef,
  { url, header, body }: StreamRequest,
  open: OpenSource,
): Promise<Answer> {
  const type = readContentType(header);
  const fork = readFork(header);
  const asked = {
    ...readLifetime(header),
    ...{ from: fork?.from ?? null, offset: fork?.offset ?? null, sub_offset: fork?.subOffset ?? 0 },
  };
  const source = fork && sourceOf(ref, fork);
  const given = source && (await readSource(open(source), fork!, source, type?.media));
  const media = type?.media ?? (fork && body.byteLength > 0 ? (await open(source!).head()).mediaType : undefined);
  const stream: NewStream = {
    ...{ content_type: type?.full ?? given?.contentType ?? null, media_type: type?.media ?? given?.mediaType ?? null },
    ...{ closed: isTrue(header('stream-closed')), asked, ...(given ? { source: given.source } : {}) },
  };
  const created = await createStream(db, ref, stream, toData(body, media ?? 'application/octet-stream'));
  switch (created.status) {
    case 'source_missing':
      throw streamNotFound(asked.from!);
    case 'source_gone':
      throw new LanefoldError('stream_conflict', `The source ${asked.from} was deleted.`, {
        hint: 'Fork a stream that was not deleted, such as one of its forks.',
      });
    case 'source_type':
      throw typeMismatch();
    case 'too_deep':
      throw new LanefoldError('stream_conflict', `The source ${asked.from} is a fork of a fork, 100 times over.`, {
        hint: 'Nothing was written. Fork one of the streams that it was forked from, or copy the data into a new stream.',
      });
    case 'bad_offset':
    case 'bad_sub_offset':
      throw beyondSource();
    case 'conflict':
      throw new LanefoldError('stream_exists', `The name ${ref.name} is taken.`, {
        hint: 'The stream was created with another type, lifetime, source or state, or is deleted but still needed by forks.',
      });
    default: {
      const headers = { ...streamHeaders(created), 'Content-Type': created.content_type };
      if (created.status === 'exists') return { status: 200, headers };
      return { status: 201, headers: { ...headers, Location: url.origin + url.pathname } };
    }
  }
}

/** For a trace, whether there is such a position is known here; for a stream, the database checks it. */
async function readSource(reader: Readable, fork: ForkHeaders, source: Source, media: string | undefined) {
  if ('name' in source) return { source: { name: source.name, at: fork.offset }, contentType: null, mediaType: null };
  if (media !== undefined && media !== jsonType) throw typeMismatch();
  if (fork.subOffset > 0)
    throw invalid('Each event of a trace has an offset.', 'Fork at the offset after the event, without a sub-offset.');
  const { next: tail } = await reader.head();
  const at = fork.offset ?? tail;
  if (at > tail) throw beyondSource();
  return { source: { run_id: source.runId ?? null, at }, contentType: jsonType, mediaType: jsonType };
}

/** A fork belongs to the thread of its source, or like its source to none: so it is erased with the thread, and read by no other. */
function sourceOf({ threadId }: StreamRef, { from }: ForkHeaders): Source {
  const parts = from.split('/').map(decoded);
  const own = threadId === undefined ? ['', 'v1', 'stream'] : ['', 'v1', 'threads', threadId];
  const rest = own.every((part, at) => parts[at] === part) ? parts.slice(own.length) : [];
  if (rest.every((part) => idGrammar.test(part))) {
    const [kind, name, last] = rest;
    if (threadId === undefined && rest.length === 1) return { name: kind! };
    if (threadId !== undefined && rest.length === 2 && kind === 'streams') return { name: name! };
    if (threadId !== undefined && rest.length === 1 && kind === 'stream') return { runId: undefined };
    if (threadId !== undefined && rest.length === 3 && kind === 'runs' && last === 'stream') return { runId: name! };
  }
  throw invalid(
    `${from.slice(0, 200)} is not the path of a stream that can be forked here.`,
    'Fork a stream of the same thread, or a stream without a thread into another one, and send its path.',
  );
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

const beyondSource = (): LanefoldError =>
  invalid('The source has no such position.', 'Fork at a Stream-Next-Offset of the source, or at its end.');

export const typeMismatch = (): LanefoldError =>
  new LanefoldError('stream_type_mismatch', 'The Content-Type differs from the type of the stream.', {
    hint: 'Nothing was written. Send the Content-Type that HEAD returns.',
  });
