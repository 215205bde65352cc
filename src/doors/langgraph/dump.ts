import type {
  SerializerProtocol,
  ChannelVersions,
  Checkpoint,
  CheckpointMetadata,
} from '@langchain/langgraph-checkpoint';
import { LanefoldError } from '../../base/errors.ts';
import { unreadable } from '../../database/store/history/read-payloads.ts';
import { assertStorable, findFlaw } from '../../base/checks/values.ts';
import type { JsonObject } from '../../agent/context/message.ts';
import type { CheckpointPayload } from '../../runs/formats/mirror/langgraph-entry.ts';
import { parseJson } from '../../base/common/json.ts';

/**
 * A value as a text: `type` as the serialiser names it, JSON unless it says otherwise; binary data in base64. A list of
 * objects is dumped item by item, so that an item is stored once, however often the list is.
 */
export type Dumped = { type: string; text: string } | { items: string[] };

/** What `JsonPlusSerializer` returns for a value that has no JSON, instead of throwing. */
const refused = new Set(['', '"[unable to serialize, circular reference is too complex to analyze]"']);

/** @throws LanefoldError `invalid_input` for a value that cannot be serialised */
export async function dump(serde: SerializerProtocol, value: unknown, what: string): Promise<Dumped> {
  if (isListOfObjects(value)) {
    // all at once: the caller may change the list while this waits
    const items = await Promise.all(value.map((item) => dumpOne(serde, item, what)));
    if (items.every(({ type }) => type === 'json')) return { items: items.map(({ text }) => text) };
  }
  return dumpOne(serde, value, what);
}

const isListOfObjects = (value: unknown): value is object[] =>
  Array.isArray(value) && value.length > 0 && value.every((item) => item !== null && typeof item === 'object');

async function dumpOne(
  serde: SerializerProtocol,
  value: unknown,
  what: string,
): Promise<{ type: string; text: string }> {
  let dumped: [string, Uint8Array];
  try {
    dumped = await serde.dumpsTyped(value);
  } catch (cause) {
    throw unserialisable(what, cause);
  }
  const [type, bytes] = dumped;
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (type !== 'json') return { type, text: data.toString('base64') };
  const text = data.toString();
  if (refused.has(text)) throw unserialisable(what);
  return { type, text };
}

const unserialisable = (what: string, cause?: unknown): LanefoldError =>
  new LanefoldError('invalid_input', `${what} cannot be serialised.`, {
    hint: 'Nothing was written. Store data: functions, symbols and bigints have no JSON; or pass a serde that knows the type.',
    cause,
  });

/** @throws LanefoldError `history_unreadable` for a text that is not JSON, or JSON nested too deeply */
export async function load(serde: SerializerProtocol, type: string, text: string): Promise<unknown> {
  if (type !== 'json') return serde.loadsTyped(type, new Uint8Array(Buffer.from(text, 'base64')));
  try {
    return await (serde.loadsTyped(type, text) as Promise<unknown>);
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof RangeError) throw unreadable('A value of a checkpoint', error);
    throw error;
  }
}

/** A checkpoint with everything that changed, as texts. */
export interface DumpedCheckpoint {
  id: string;
  parent: string | undefined;
  checkpoint: string;
  versions: Record<string, string>;
  metadata: CheckpointPayload['metadata'];
  changed: Map<string, Dumped>;
  /** Channels that have a value which did not change, and how to dump it. */
  unchanged: Map<string, () => Promise<Dumped>>;
}

/** Serialises at once what LangGraph may change later. */
export async function dumpCheckpoint(
  serde: SerializerProtocol,
  { id, channel_values: values, ...rest }: Checkpoint,
  metadata: CheckpointMetadata,
  newVersions: ChannelVersions,
  parent: string | undefined,
): Promise<DumpedCheckpoint> {
  const checkpoint = JSON.stringify(rest);
  const versions = Object.entries(rest.channel_versions).map(([name, version]) => [name, String(version)]);
  const names = Object.keys(values);
  assertStorable([id, names], 'The checkpoint');
  // a channel that was never written to has no version, but may have a default
  const mayDiffer = (name: string) => Object.hasOwn(newVersions, name) || !Object.hasOwn(rest.channel_versions, name);
  const changed = names.filter(mayDiffer);
  const dumpValue = (name: string) => dump(serde, values[name], `The value of the channel ${JSON.stringify(name)}`);
  const [dumpedMetadata, ...dumped] = await Promise.all([
    dump(serde, metadata, 'The metadata'),
    ...changed.map(dumpValue),
  ]);
  return {
    id,
    parent,
    checkpoint,
    versions: Object.fromEntries(versions),
    metadata: storedMetadata(dumpedMetadata as { type: string; text: string }),
    changed: new Map(changed.map((name, i) => [name, dumped[i]!])),
    unchanged: new Map(names.filter((name) => !mayDiffer(name)).map((name) => [name, () => dumpValue(name)])),
  };
}

function storedMetadata({ type, text }: { type: string; text: string }): CheckpointPayload['metadata'] {
  if (type !== 'json') return [type, text];
  const value = parseJson(text) as JsonObject;
  return findFlaw(value) === undefined ? value : text;
}
