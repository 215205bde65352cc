import type { AgentInputItem } from '@openai/agents-core';
import type { ContentPart, Json, Message, ToolCall, JsonObject } from '../../agent/context/message.ts';
import { acceptableParts, plainIfOne, type Turn } from '../../runs/formats/mirror/lane-view.ts';
import { maxDepth, parseJson } from '../../base/common/json.ts';
import { serialize } from 'node:v8';
import { LanefoldError } from '../../base/errors.ts';
import { cloned, hasManyHoles, loadItem, changeOf } from '../../runs/formats/mirror/openai-entry.ts';
import { emptyLane, readLaneField } from '../../runs/formats/mirror/addresses.ts';
import { unreadable } from '../../database/store/history/read-payloads.ts';

type Fields = Record<string, unknown>;

/** The turns of a session. Items of tools that providers run themselves, and reasoning, have no turn. */
export function turnsOf(items: readonly AgentInputItem[]): Turn[] {
  const turns: Turn[] = [];
  for (const item of items) {
    const fields = Object(item) as Fields;
    const last = turns.at(-1);
    // calls that follow each other are calls of one answer
    if (fields['type'] === 'function_call' && last?.is === 'calls') last.message.tool_calls.push(toCall(fields));
    else {
      const turn = turnOf(fields);
      if (turn) turns.push(turn);
    }
  }
  return turns;
}

function turnOf(item: Fields): Turn | undefined {
  switch (item['type']) {
    case 'function_call':
      return { is: 'calls', message: { role: 'assistant', content: '', tool_calls: [toCall(item)] } };
    case 'function_call_result':
      return {
        is: 'result',
        callId: String(item['callId']),
        content: outputOf(item['output']),
        ...(typeof item['name'] === 'string' && item['name'] !== '' ? { name: item['name'] } : {}),
      };
    case undefined:
    case 'message':
      return said(item);
    default:
      return undefined;
  }
}

function said({ role, content }: Fields): Turn | undefined {
  if (role === 'system') return { is: 'system', text: typeof content === 'string' ? content : '' };
  if (role !== 'user' && role !== 'assistant') return undefined;
  return { is: 'message', message: { role, content: contentOf(content) } };
}

const toCall = ({ callId, name, arguments: given }: Fields): ToolCall => ({
  id: typeof callId === 'string' && callId !== '' ? callId : 'call',
  name: typeof name === 'string' && name !== '' ? name : 'tool',
  ...argumentsOf(given),
});

function argumentsOf(given: unknown): Pick<ToolCall, 'arguments' | 'arguments_raw'> {
  if (typeof given !== 'string') return { arguments: {} };
  try {
    return { arguments: parseJson(given, maxDepth) as Json, arguments_raw: given };
  } catch {
    return { arguments: {}, arguments_raw: given };
  }
}

const contentOf = (content: unknown): Message['content'] =>
  Array.isArray(content)
    ? plainIfOne(acceptableParts(content.map((part) => partOf(Object(part) as Fields))))
    : typeof content === 'string'
      ? content
      : '';

const outputOf = (output: unknown): string | ContentPart[] =>
  typeof output === 'string' ? output : contentOf(Array.isArray(output) ? output : [output]);

/** A part as `acceptContent` knows it. */
function partOf(part: Fields): unknown {
  switch (part['type']) {
    case 'input_text':
    case 'output_text':
    case 'text':
      return { type: 'text', text: String(part['text'] ?? '') };
    case 'refusal':
      return { type: 'text', text: String(part['refusal'] ?? '') };
    case 'audio':
      return typeof part['transcript'] === 'string' ? { type: 'text', text: part['transcript'] } : { type: 'audio' };
    case 'input_image':
    case 'image':
      return { type: 'image', image: sourceOf(part['image']) };
    case 'input_file':
    case 'file': {
      const source = sourceOf(part['file']);
      const { mediaType, filename = part['filename'] } = Object(part['file']) as Fields;
      return { type: 'file', data: source, mediaType, filename };
    }
    default:
      return part;
  }
}

/** `{data}` and `{url}` are sources; ids of uploaded files are not, and become a placeholder. */
const sourceOf = (given: unknown): unknown => {
  const { data, url } = Object(given) as Fields;
  return data ?? url ?? given;
};

/** Copies a list of items, as `MemorySession` does. @throws LanefoldError `invalid_input` */
export function copyItems(items: unknown): AgentInputItem[] {
  if (!Array.isArray(items)) {
    throw new LanefoldError('invalid_input', 'The items are not a list.', { hint: 'Nothing was written.' });
  }
  return items.map((item: unknown, i) => {
    try {
      if (hasManyHoles(item)) throw new Error('It has a list with holes');
      return structuredClone(item) as AgentInputItem;
    } catch (cause) {
      throw new LanefoldError('invalid_input', `Item ${i} cannot be stored: ${(cause as Error).message}.`, {
        hint: 'Nothing was written. Items are data: they have no functions.',
        cause,
      });
    }
  });
}

/** @throws LanefoldError `history_unreadable` */
export const readItem = (text: string): AgentInputItem => loadItem(text) as AgentInputItem;

export const writeItem = (item: unknown): string =>
  isJson(item) ? JSON.stringify(item) : cloned + serialize(item).toString('base64');

/** Whether JSON returns the same value. */
function isJson(value: unknown): boolean {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return true;
  if (typeof value === 'number') return Number.isFinite(value) && !Object.is(value, -0);
  if (typeof value !== 'object') return false;
  // a list with holes or fields has other keys than its indexes
  if (Array.isArray(value)) return Object.keys(value).length === value.length && Object.values(value).every(isJson);
  return Object.getPrototypeOf(value) === Object.prototype && Object.values(value).every(isJson);
}

/** A session after some entries. */
export interface SessionState {
  /** `seq` of its last entry; -1 without one. */
  after: number;
  /** `seq` of the last clear; ids of operations are free again after it. */
  epoch: number;
  items: string[];
  /** Where the lane ended after the last entry. */
  laneSeq: number;
}

export const emptySession: SessionState = { after: -1, epoch: -1, items: [], laneSeq: emptyLane.lastSeq };

/** The session after more entries. @throws LanefoldError `history_unreadable` */
export function fold(state: SessionState, entries: readonly { seq: number; payload: JsonObject }[]): SessionState {
  if (entries.length === 0) return state;
  let { epoch, laneSeq } = state;
  let items = [...state.items];
  for (const entry of entries) {
    const { seq } = entry;
    const change = changeOf(entry);
    if (change.clear) [items, epoch] = [[], change.epoch ?? seq];
    if (change.drop) {
      if (change.drop > items.length) throw unreadable(`The session in entry ${seq}`);
      items.length -= change.drop;
    }
    for (const item of change.items) items.push(item);
    if (change.lane !== undefined) laneSeq = readLaneField(change.lane, seq);
  }
  return { after: entries.at(-1)!.seq, epoch, items, laneSeq };
}

/** Clears have keys that sort by the `rev` at which they were appended, so that the last one is found at once. */
export const clears = { from: 'openai_agents.clear.', below: 'openai_agents.clear/' };

export const keyOf = (clear: true | undefined, rev: number, id: string): string =>
  clear ? `${clears.from}${String(rev).padStart(16, '0')}.${id}` : `openai_agents.${id}`;
