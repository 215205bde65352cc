import {
  compareWritesSortKeys,
  writesSortKey,
  WRITES_IDX_MAP,
  type CheckpointPendingWrite,
  type PendingWrite,
  type SerializerProtocol,
} from '@langchain/langgraph-checkpoint';
import type { JsonObject } from '../../agent/context/message.ts';
import { dump, type Dumped } from './dump.ts';
import { TextCount } from '../../runs/formats/mirror/addresses.ts';
import { locate } from './stored.ts';
import { writesOf } from '../../runs/formats/mirror/langgraph-entry.ts';
import { addressesOf, loadValue, type Found, type Texts } from './read-values.ts';

export interface DumpedWrite {
  idx: number;
  channel: string;
  value: Dumped;
}

export const dumpWrites = (serde: SerializerProtocol, writes: readonly PendingWrite[]): Promise<DumpedWrite[]> =>
  Promise.all(
    writes.map(async ([channel, value], i) => ({
      idx: WRITES_IDX_MAP[channel] ?? i,
      channel,
      value: await dump(serde, value, `The write to the channel ${JSON.stringify(channel)}`),
    })),
  );

/** A write in force. */
export interface FoundWrite {
  task: string;
  path: string;
  idx: number;
  channel: string;
  located: Found['located'];
}

/**
 * The writes in force, in the order in which LangGraph applies them. Entries come in the order of the log: of the
 * writes of one task and index the first counts, of those for errors, interrupts and resumes the last.
 */
export function foldWrites(entries: readonly { seq: number; payload: JsonObject }[]): FoundWrite[] {
  const found = new Map<string, FoundWrite>();
  const texts = new TextCount();
  for (const entry of entries) {
    const { seq } = entry;
    const { task, path = '', writes } = writesOf(entry);
    for (const [idx, channel, stored] of writes) {
      const key = `${idx} ${task}`;
      if (idx >= 0 && found.has(key)) continue;
      // a list of writes never continues another one
      const located = locate(stored, seq, () => ({ own: [] }));
      texts.count(addressesOf(located).length, seq);
      found.set(key, { task, path, idx, channel, located });
    }
  }
  const sortKey = ({ path, task, idx }: FoundWrite) => writesSortKey(path, task, idx);
  return [...found.values()].sort((a, b) => compareWritesSortKeys(sortKey(a), sortKey(b)));
}

export const addressesOfWrites = (writes: readonly FoundWrite[]) =>
  writes.flatMap(({ located }) => addressesOf(located));

export const loadWrites = (
  serde: SerializerProtocol,
  writes: readonly FoundWrite[],
  texts: Texts,
): Promise<CheckpointPendingWrite[]> =>
  Promise.all(
    writes.map(async ({ task, channel, located }): Promise<CheckpointPendingWrite> => [
      task,
      channel,
      await loadValue(serde, located, texts),
    ]),
  );

/** Whether these writes would change nothing. */
export const areInForce = (
  dumped: readonly DumpedWrite[],
  task: string,
  found: readonly FoundWrite[],
  texts: Texts,
): boolean =>
  dumped.every(({ idx, channel, value }) => {
    const before = found.find((write) => write.task === task && write.idx === idx);
    if (!before || idx >= 0) return before !== undefined;
    const { located } = before;
    if (before.channel !== channel) return false;
    if (!('items' in value))
      return 'type' in located && value.type === located.type && value.text === texts(located.address);
    if (!('items' in located) || located.items.length !== value.items.length) return false;
    return value.items.every((text, i) => text === texts(located.items[i]!));
  });
