import { createHash } from 'node:crypto';
import { asLine, parseJson } from '../../../base/common/json.ts';
import type { JsonObject } from '../../../agent/context/message.ts';

/*
 * A line of an export: {"line":n,"type":…,…,"hash":"…"}. The hash is the SHA-256, in hex, of the hash of the previous line
 * (nothing before the first one) followed by the text of the line up to `,"hash"`.
 */

export const lineHash = (previous: string, body: string): string =>
  createHash('sha256').update(previous).update(body).digest('hex');

/** Writes lines, each with the hash of everything before it. */
export class LineWriter {
  hash = '';
  #lines = 0;

  /** @param fields the text of a JSON object */
  write(type: string, fields: string): string {
    const rest = asLine(fields.trim().slice(1, -1));
    const body = `{"line":${++this.#lines},"type":"${type}",${rest}`;
    this.hash = lineHash(this.hash, body);
    return `${body},"hash":"${this.hash}"}`;
  }
}

export interface Line {
  fields: Record<string, unknown>;
  body: string;
  hash: string;
}

const ofLine = /^(\{.*),"hash":"([0-9a-f]{64})"\}\s*$/s;

/** Splits a line into its parts; undefined for a text that is not a line of an export. */
export function parseLine(text: string): Line | undefined {
  const [, body, hash] = ofLine.exec(text) ?? [];
  if (body === undefined || hash === undefined) return undefined;
  try {
    return { fields: parseJson(`${body}}`) as Record<string, unknown>, body, hash };
  } catch {
    return undefined;
  }
}

/** Something that an import could not carry over as it was. */
export interface ImportNote {
  /**
   * `left_out`: it is not in the thread. `changed`: it is there in another form. `repaired`: a tool call had no result,
   * and got an error result with `refs.kind` `repaired`.
   */
  outcome: 'left_out' | 'changed' | 'repaired';
  /** Where it is in the source, such as `items[3].content[0]`; for a repair, the tool call. */
  where: string;
  what: string;
}

export interface Configures {
  systemPrompt?: true;
  tools?: true;
  toolContext?: true;
  contextPolicy?: true;
}

/** A thread to import. Texts are JSON, written into the statement as they are. */
export interface PortableThread {
  format: 'lanefold' | 'openai' | 'ai-sdk' | 'langgraph';
  /** The id to give it, unless the caller names another one. */
  id?: string | undefined;
  metadata?: JsonObject | undefined;
  activeContextRef?: string;
  /** What it sets besides messages, of which an agent may forbid callers over HTTP. */
  sets: Configures;
  /** Objects: {seq, kind, payload, …}. */
  entries: string[];
  contents: { id: string; text: string }[];
  runs: string[];
  lanes: { context_ref: string; digest: string }[];
  origin?: { thread_id: string; tenant_id: string };
  /** Facts about the source, for the last entry of the thread. */
  facts: JsonObject;
  notes: ImportNote[];
  /** Identifies the source: importing the same again under the same id changes nothing. */
  hash: string;
}
