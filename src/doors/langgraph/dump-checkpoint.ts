import type {
  ChannelVersions,
  Checkpoint,
  CheckpointMetadata,
  SerializerProtocol,
} from '@langchain/langgraph-checkpoint';
import { assertStorable, findFlaw } from '../../base/checks/text.ts';
import type { JsonObject } from '../../agent/context/message.ts';
import { dump, type Dumped } from './dump.ts';
import type { CheckpointPayload } from '../../runs/formats/mirror/langgraph-entry.ts';
import { parseJson } from '../../base/common/json.ts';

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
    ...{ id, parent, checkpoint, versions: Object.fromEntries(versions) },
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
