import { parseJson } from '../../../base/common/json.ts';
import type { JsonObject } from '../../../agent/context/message.ts';
import { isLanefoldError } from '../../../base/errors.ts';
import { historyOwners } from '../../../database/store/history/read-payloads.ts';
import { countOf, maxTexts, rangesOf, type AddressRange } from './addresses.ts';
import { checkpointKind, checkpointOf, writesKind, writesOf, type Stored } from './langgraph-entry.ts';
import { changeOf, itemsKind, loadItem } from './openai-entry.ts';

/** An entry of an import. */
export interface ImportedEntry {
  seq: number;
  kind: string;
  payload: JsonObject;
  appendKey: string | undefined;
}

/**
 * Checks the entries of an import that are the history of another framework: their form, and that they name only what
 * earlier entries have. Their readers trust this where a few characters stand for much. Add all entries in order.
 */
export class ImportedHistory {
  /** How many parts the entries of LangGraph have. */
  readonly #parts = new Map<number, number>();
  /** Which of them are no JSON: values of another type, in base64. */
  readonly #binary = new Map<number, number[]>();
  /** The values of checkpoints, by entry and channel: how many texts they consist of, and whether they are a list. */
  readonly #values = new Map<number, Map<string, { texts: number; isList: boolean }>>();
  #items = 0;

  /** What is wrong with the next entry; undefined if it is of no history, or right. */
  problemOf({ seq, kind, payload, appendKey = '' }: ImportedEntry): string | undefined {
    const owner = historyOwners.find((each) => kind.startsWith(`${each}_`));
    const ofKey = historyOwners.find((each) => appendKey.startsWith(`${each}.`));
    if (owner === undefined && ofKey === undefined) return undefined;
    if (owner !== ofKey) return 'has a kind or a key that is reserved for the history of another framework';
    try {
      if (kind === itemsKind) return this.#session(seq, payload);
      if (kind === writesKind) return this.#writes(seq, payload, appendKey);
      if (kind === checkpointKind) return this.#checkpoint(seq, payload, appendKey);
    } catch (error) {
      if (!isLanefoldError(error, 'history_unreadable')) throw error;
    }
    return 'does not have the form in which Lanefold keeps the history of another framework';
  }

  #session(seq: number, payload: JsonObject): string | undefined {
    const { clear, drop = 0, items } = changeOf({ seq, payload });
    const before = clear ? 0 : this.#items;
    if (drop > before) return `takes ${drop} items from a session of ${before}`;
    for (const item of items) loadItem(item);
    this.#items = before - drop + items.length;
    return undefined;
  }

  #checkpoint(seq: number, payload: JsonObject, appendKey: string): string | undefined {
    const { id, values, parts, metadata } = checkpointOf({ seq, payload });
    this.#addParts(seq, parts);
    const [type, text] = Array.isArray(metadata) ? metadata : ['json', metadata];
    if (type === 'json' && typeof text === 'string' && !isJson(text)) return 'has metadata that is no JSON';
    if (!names(appendKey, id)) return 'has the key of another checkpoint';
    const own = new Map<string, { texts: number; isList: boolean }>();
    let texts = 0;
    for (const [channel, value] of Object.entries(values)) {
      const found = typeof value === 'number' ? this.#valueAt(value, channel, seq) : this.#valueOf(value, seq, channel);
      if (!found)
        return `names something for the channel ${channel.slice(0, 100)} that no earlier entry has, or that is no JSON`;
      texts += found.texts;
      if (typeof value !== 'number') own.set(channel, found);
    }
    this.#values.set(seq, own);
    return texts > maxTexts ? `names ${texts} texts, more than ${maxTexts}` : undefined;
  }

  #writes(seq: number, payload: JsonObject, appendKey: string): string | undefined {
    const { checkpoint, writes, parts } = writesOf({ seq, payload });
    this.#addParts(seq, parts);
    if (!names(appendKey, checkpoint)) return 'has the key of another checkpoint';
    let texts = 0;
    for (const [, , value] of writes) {
      const found = 'base' in value ? undefined : this.#valueOf(value, seq, '');
      if (!found) return 'names something that no earlier entry has';
      texts += found.texts;
    }
    return texts > maxTexts ? `names ${texts} texts, more than ${maxTexts}` : undefined;
  }

  #addParts(seq: number, parts: readonly string[]): void {
    this.#parts.set(seq, parts.length);
    const binary = parts.flatMap((part, index) => (isJson(part) ? [] : [index]));
    if (binary.length > 0) this.#binary.set(seq, binary);
  }

  #hasBinary({ seq, first, last }: AddressRange): boolean {
    return this.#binary.get(seq)?.some((index) => index >= first && index <= last) ?? false;
  }

  #valueAt(seq: number, channel: string, own: number) {
    return seq < own ? this.#values.get(seq)?.get(channel) : undefined;
  }

  /** How much a value names; undefined if not all of it is there. */
  #valueOf(stored: Stored, seq: number, channel: string): { texts: number; isList: boolean } | undefined {
    const isList = 'list' in stored;
    const ranges = rangesOf(isList ? stored.list : stored.value, seq);
    if (!ranges?.every((range) => range.seq <= seq && range.last < (this.#parts.get(range.seq) ?? 0))) return undefined;
    const isTyped = !isList && (stored.type ?? 'json') !== 'json';
    if (!isTyped && ranges.some((range) => this.#hasBinary(range))) return undefined;
    const texts = countOf(ranges);
    if (!isList) return texts === 1 ? { texts, isList } : undefined;
    if (stored.base === undefined) return { texts, isList };
    const base = this.#valueAt(stored.base, channel, seq);
    const { keep = 0 } = stored;
    return base?.isList && keep <= base.texts ? { texts: keep + texts, isList } : undefined;
  }
}

/** Nested deeper, it would exhaust the stack of its readers. */
const deepest = 1_000;

function isJson(text: string): boolean {
  try {
    parseJson(text, deepest);
    return true;
  } catch {
    return false;
  }
}

/** Whether a key is that of a checkpoint, or of something that was added to it: `langgraph.c.<namespace>.<id>…`. */
function names(appendKey: string, id: string): boolean {
  const [, type, , ...rest] = appendKey.split('.');
  const last = rest.join('.');
  return type === 'c' ? last === id : type === 'w' && last.startsWith(`${id}.`);
}
