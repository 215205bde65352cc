import { createHash } from 'node:crypto';
import { asLine, parseJson } from '../../../base/common/json.ts';

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
