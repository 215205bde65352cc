import { createHash } from 'node:crypto';

/** An entry with its columns as PostgreSQL prints them; `at` in seconds since 1970. */
export interface StoredEntry {
  seq: string;
  thread_id: string;
  tenant_id: string;
  at: string;
  kind: string;
  context_ref: string | null;
  role: string | null;
  op_id: string | null;
  run_id: string | null;
  request_id: string | null;
  is_anchor: string;
  payload: string;
  refs: string | null;
  /** Hexadecimal; null: the entry has none. */
  hash: string | null;
}

const sha256 = (...parts: (string | Buffer)[]): string => {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest('hex');
};

/** The hash to which the first entry of a thread is chained, as `_chain_start` in db/sql/evidence computes it. */
export const chainStart = (threadId: string): string => sha256(`lanefold ${threadId}`);

/**
 * The hash of an entry that follows one with the hash `before`, as `_entry_hash` in db/sql/evidence computes it: over
 * the text of a jsonb array. PostgreSQL escapes the same characters in strings as JSON.stringify.
 */
export function entryHash(before: string, e: StoredEntry): string {
  const ids = [e.kind, e.context_ref, e.role, e.op_id, e.run_id, e.request_id].map((text) => JSON.stringify(text));
  const items = [JSON.stringify(e.thread_id), JSON.stringify(e.tenant_id), e.seq, microseconds(e.at), ...ids];
  // refs that are null in SQL or in JSON give the same array there, and mean the same to every reader
  const array = `[${[...items, e.is_anchor === 't', e.payload, e.refs ?? 'null'].join(', ')}]`;
  return sha256(Buffer.from(before, 'hex'), array);
}

/** Converts seconds with six decimals. Keeps any other text, such as infinity: no entry was written with it. */
const microseconds = (seconds: string): string =>
  /^-?\d+\.\d{6}$/.test(seconds) ? BigInt(seconds.replace('.', '')).toString() : seconds;
