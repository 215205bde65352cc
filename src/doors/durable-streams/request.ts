import type { Producer } from '../../database/store/stream/streams.ts';
import { invalid, readOffset } from './protocol.ts';

/** A request of the protocol. Names of headers in any case; `undefined` for one that is missing. */
export interface StreamRequest {
  url: URL;
  header(name: string): string | undefined;
  body: Buffer;
}

type Header = StreamRequest['header'];

const maxTextBytes = 256;
/** Some 300 years. */
const maxTtlS = 1e10;

export const isTrue = (value: string | undefined): boolean => value?.toLowerCase() === 'true';

export interface ContentType {
  /** As it was sent. */
  full: string;
  /** In lower case, without parameters. */
  media: string;
}

/** @throws LanefoldError `invalid_input` */
export function readContentType(header: Header): ContentType | undefined {
  const full = header('content-type');
  if (full === undefined) return undefined;
  const media = full.split(';', 1)[0]!.trim().toLowerCase();
  if (full.length <= maxTextBytes && /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+$/.test(media)) return { full, media };
  throw invalid('The Content-Type is not a media type.', 'Send one such as application/json or text/plain.');
}

/** How long a stream is to be kept. @throws LanefoldError `invalid_input` */
export function readLifetime(header: Header): { ttl_s: number | null; ends_at: string | null } {
  const ttl = header('stream-ttl');
  const ends = header('stream-expires-at');
  if (ttl !== undefined && ends !== undefined)
    throw invalid('Both Stream-TTL and Stream-Expires-At are given.', 'Send one of them.');
  if (ttl !== undefined && (!/^(0|[1-9]\d*)$/.test(ttl) || Number(ttl) > maxTtlS))
    throw invalid('Stream-TTL is not a number of seconds.', 'Send decimal digits without leading zeros, such as 3600.');
  return { ttl_s: ttl === undefined ? null : Number(ttl), ends_at: ends === undefined ? null : readTime(ends) };
}

const rfc3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/i;

function readTime(text: string): string {
  const time = rfc3339.test(text) ? new Date(text) : undefined;
  if (time && !Number.isNaN(time.getTime())) return time.toISOString();
  throw invalid('Stream-Expires-At is not a time.', 'Send RFC 3339, such as 2026-12-24T18:00:00Z.');
}

/** @throws LanefoldError `invalid_input` */
export function readProducer(header: Header): Producer | undefined {
  const id = header('producer-id');
  const given = [id, header('producer-epoch'), header('producer-seq')];
  if (given.every((value) => value === undefined)) return undefined;
  const [epoch, seq] = given.slice(1).map((value) => (value && /^\d{1,16}$/.test(value) ? Number(value) : NaN));
  if (id && id.length <= maxTextBytes && Number.isSafeInteger(epoch) && Number.isSafeInteger(seq))
    return { id, epoch: epoch!, seq: seq! };
  throw invalid(
    'The headers of the producer are incomplete or invalid.',
    `Send Producer-Id, of 1 to ${maxTextBytes} characters, with Producer-Epoch and Producer-Seq, whole numbers from 0.`,
  );
}

/** @throws LanefoldError `invalid_input` */
export function readSeq(header: Header): string | undefined {
  const seq = header('stream-seq');
  if (seq === undefined || (seq.length > 0 && seq.length <= maxTextBytes)) return seq;
  throw invalid('Stream-Seq is empty or too long.', `Send 1 to ${maxTextBytes} characters.`);
}

export interface ForkHeaders {
  from: string;
  offset: number | null;
  subOffset: number;
}

/** @throws LanefoldError `invalid_input` */
export function readFork(header: Header): ForkHeaders | undefined {
  const from = header('stream-forked-from');
  const offset = header('stream-fork-offset');
  const sub = header('stream-fork-sub-offset');
  if (from === undefined) {
    if (offset === undefined && sub === undefined) return undefined;
    throw invalid('The offset of a fork is given, but not its source.', 'Send Stream-Forked-From with the path of it.');
  }
  if (sub !== undefined && !/^(0|[1-9]\d{0,14})$/.test(sub))
    throw invalid('Stream-Fork-Sub-Offset is not a whole number.', 'Send how many messages or bytes to inherit more.');
  if (Number(sub ?? 0) > 0 && offset === undefined)
    throw invalid('Stream-Fork-Sub-Offset needs Stream-Fork-Offset.', 'Send the offset from which it counts.');
  if (offset === 'now') throw invalid('A fork cannot begin at now.', 'Leave Stream-Fork-Offset out for the end.');
  return { from, offset: offset === undefined ? null : readOffset(offset)!, subOffset: Number(sub ?? 0) };
}

export interface ReadQuery {
  /** undefined: the end. */
  from: number | undefined;
  live: 'long-poll' | 'sse' | undefined;
  cursor: string | undefined;
}

/** Ignores parameters that it does not know, as the protocol asks. @throws LanefoldError `invalid_input` */
export function readQuery({ searchParams }: URL): ReadQuery {
  const offsets = searchParams.getAll('offset');
  const live = searchParams.get('live') ?? undefined;
  if (offsets.length > 1) throw invalid('The offset is given more than once.', 'Send it once.');
  if (live !== undefined && live !== 'long-poll' && live !== 'sse')
    throw invalid('live is neither long-poll nor sse.', 'Send one of these, or leave it out.');
  if (live !== undefined && offsets.length === 0)
    throw invalid('A live read needs an offset.', 'Send the Stream-Next-Offset of the read before, -1, or now.');
  return { from: readOffset(offsets[0] ?? '-1'), live, cursor: searchParams.get('cursor') ?? undefined };
}
