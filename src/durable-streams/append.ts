import type { Database } from '../postgres/pool.ts';
import { appendStream, type StreamRef } from '../store/stream/streams.ts';
import { streamHeaders, type Answer } from './answer.ts';
import { typeMismatch } from './create.ts';
import { invalid, streamDeleted, streamNotFound, withHeaders } from './errors.ts';
import { jsonType, toData } from './messages.ts';
import { isTrue, readContentType, readProducer, readSeq, type StreamRequest } from './request.ts';
import type { Tails } from './tails.ts';

/** Appends to a stream, closes it, or both. */
export async function append(
  db: Database,
  ref: StreamRef,
  { header, body }: StreamRequest,
  tails: Tails,
): Promise<Answer> {
  const close = isTrue(header('stream-closed'));
  const producer = readProducer(header);
  const seq = readSeq(header);
  const empty = body.byteLength === 0;
  if (empty && !close) throw invalid('The body is empty.', 'Send data, or Stream-Closed: true to close the stream.');
  const type = empty ? undefined : readContentType(header);
  if (!empty && !type) throw invalid('The Content-Type is missing.', 'Send the one that HEAD returns.');
  const data = type && toData(body, type.media);
  if (data?.length === 0 && type?.media === jsonType)
    throw invalid('The array has no messages.', 'Send at least one, or Stream-Closed: true without a body.');
  const done = await appendStream(db, ref, { media_type: type?.media, seq, producer, close }, data);
  if (done.status === 'missing') throw streamNotFound(ref.name);
  if (done.status === 'gone') throw streamDeleted(ref.name);
  const headers = streamHeaders(done);
  switch (done.status) {
    case 'closed':
      throw withHeaders('stream_closed', `Stream ${ref.name} is closed.`, 'Nothing was written.', headers);
    case 'wrong_type':
      throw typeMismatch();
    case 'old_seq':
      throw withHeaders(
        'stream_conflict',
        'The Stream-Seq is not greater than the previous one.',
        'Nothing was written. Read what others appended, and send a higher one; they are compared byte by byte.',
        headers,
      );
    case 'gap':
      throw withHeaders(
        'stream_conflict',
        `The request ${done.expected} of producer ${producer!.id} is missing.`,
        'Nothing was written. Send the requests of a producer in order, each number once, from 0.',
        { 'Producer-Expected-Seq': String(done.expected), 'Producer-Received-Seq': String(producer!.seq) },
      );
    case 'stale_epoch':
      throw withHeaders(
        'stale_producer',
        `Producer ${producer!.id} was started again: its epoch is ${done.epoch}.`,
        'Nothing was written. Stop, or claim the name with a higher epoch and Producer-Seq 0.',
        { 'Producer-Epoch': String(done.epoch) },
      );
    case 'bad_epoch':
      throw invalid('A new epoch begins with Producer-Seq 0.', 'Nothing was written.');
    default: {
      tails.changed(done.id);
      const fence = producer && done.epoch !== null && done.seq !== null;
      if (fence) Object.assign(headers, { 'Producer-Epoch': String(done.epoch), 'Producer-Seq': String(done.seq) });
      return { status: producer && data && done.status === 'appended' ? 200 : 204, headers };
    }
  }
}
