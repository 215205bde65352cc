import type { JsonObject } from '../../agent/context/message.ts';
import { isLanefoldError } from '../../base/errors.ts';
import { laneView, shownOf, type LaneView } from '../../runs/formats/mirror/lane-view.ts';
import {
  emptyLane,
  isShown,
  laneEnd,
  laneField,
  planLane,
  type LaneState,
} from '../../runs/formats/mirror/addresses.ts';
import type { Database } from '../../database/postgres/pool.ts';
import { appendHistory } from '../../database/store/log/append-history.ts';
import { readEnds, readAppended } from '../../database/store/history/read-appended.ts';
import { readVersion } from './read-checkpoints.ts';
import type { DumpedCheckpoint } from './dump.ts';
import { additionKey, checkpointKey, shortHash, Parts, settle, additionsTo } from './keys.ts';
import type { KnownCheckpoint, Memory } from './known.ts';
import { turnsOf, turnsOfText } from '../../runs/formats/mirror/langchain.ts';
import {
  checkpointKind,
  type CheckpointPayload,
  type StoredValues,
  writesKind,
  type WritesPayload,
} from '../../runs/formats/mirror/langgraph-entry.ts';
import { assertReadable, isSame, settled, store, type ChannelValue, type Located } from './stored.ts';
import { readTexts, addressesOfWrites, areInForce, foldWrites, type DumpedWrite } from './read-values.ts';

interface PutTarget {
  db: Database;
  threadId: string;
  ns: string;
  memory: Memory;
  /** The lane that shows the messages of the namespace, and the channel that has them. */
  lane: { contextRef: string; channel: string } | undefined;
  /** Names the lane of the entries where no lane shows messages. */
  contextRef: string;
}

/** How often a put tries again because others have written to the lane. */
const attempts = 20;

/**
 * Appends a checkpoint, and to the lane of its namespace what it shows now. `parent`: as stored, undefined if there is
 * none.
 */
export async function putCheckpoint(
  target: PutTarget,
  dumped: DumpedCheckpoint,
  parent: KnownCheckpoint | undefined,
): Promise<void> {
  const { db, threadId, ns, lane, memory } = target;
  const hash = shortHash(JSON.stringify([dumped.parent, dumped.checkpoint, dumped.metadata, [...dumped.changed]]));
  if (dumped.parent !== undefined) await dumpStrangers(dumped, parent);
  const before = parent?.lane ?? emptyLane;
  let state = before;
  let leaveLane = false;
  for (let attempt = 1, key = checkpointKey(ns, dumped.id); ; attempt++) {
    const { payload, locate } = compose(target, dumped, parent);
    const view = await viewOf(lane, dumped, state);
    const shown = view === 'same' ? state.shown : view && shownOf(view);
    const change = lane && view && !leaveLane ? planLane(lane.contextRef, state, view, shown!) : undefined;
    if (lane) payload.lane = laneField(change, state.lastSeq);
    try {
      const { firstSeq: seq, duplicate } = await appendHistory(db, threadId, {
        entry: { kind: checkpointKind, contextRef: target.contextRef, payload: payload as unknown as JsonObject },
        lane: change,
        idempotencyKey: key,
        hash,
      });
      if (duplicate) {
        const inForce = await readVersion(db, threadId, ns, dumped.id);
        if (!inForce || inForce.seq <= seq || inForce.hash === hash) return;
        // stored before, and after that in another way
        key = additionKey(ns, dumped.id, `${hash} after ${inForce.seq}`);
        continue;
      }
      const after: LaneState = { lastSeq: laneEnd(change, state.lastSeq, seq), shown: shown ?? state.shown };
      memory.set(threadId, ns, dumped.id, locate(seq, after));
      return;
    } catch (error) {
      if (attempt >= attempts) throw error;
      if (isLanefoldError(error, 'idempotency_mismatch')) key = additionKey(ns, dumped.id, hash);
      else if (isLanefoldError(error, 'rev_conflict')) {
        state = { lastSeq: (await readEnds(db, threadId, lane!.contextRef))?.laneSeq ?? -1, shown: undefined };
      } else if (isLanefoldError(error, 'lane_busy') && shown && isShown(before.shown, shown)) {
        // the run continues with its lane, and the next checkpoint that shows something else takes it back
        [state, leaveLane] = [before, true];
      } else throw error;
    }
  }
}

/** What the lane has to show; `same` as the parent's, if it shows that. Undefined: no messages of LangChain. */
async function viewOf(
  lane: PutTarget['lane'],
  { changed, unchanged }: DumpedCheckpoint,
  state: LaneState,
): Promise<LaneView | 'same' | undefined> {
  if (!lane) return undefined;
  const ofParent = changed.has(lane.channel) ? undefined : unchanged.get(lane.channel);
  if (ofParent && state.shown) return 'same';
  const value = changed.get(lane.channel) ?? (await ofParent?.());
  const turns = value && ('items' in value ? turnsOf(value.items) : turnsOfText(value.text));
  return turns && laneView(turns);
}

/** Values that should be in the parent, but are not: the checkpoint then has them itself. */
async function dumpStrangers({ changed, unchanged, versions }: DumpedCheckpoint, parent: KnownCheckpoint | undefined) {
  for (const [name, dumpValue] of unchanged)
    if (parent?.values.get(name)?.version !== versions[name]) changed.set(name, await dumpValue());
}

function compose({ ns, memory, threadId }: PutTarget, dumped: DumpedCheckpoint, parent: KnownCheckpoint | undefined) {
  const parts = new Parts(memory.texts(threadId));
  const values: StoredValues = {};
  const own = new Map<string, Located>();
  const named = new Map<string, ChannelValue>();
  const name = (channel: string, before: ChannelValue) => {
    values[channel] = before.at;
    named.set(channel, { ...before, version: dumped.versions[channel]! });
  };
  for (const channel of dumped.unchanged.keys()) {
    const before = parent?.values.get(channel);
    if (before && !dumped.changed.has(channel)) name(channel, before);
  }
  for (const [channel, value] of dumped.changed) {
    const before = parent?.values.get(channel);
    if (before && isSame(value, before)) {
      name(channel, before);
      continue;
    }
    const { stored, located } = store(parts, value, before);
    values[channel] = stored;
    own.set(channel, located);
  }
  assertReadable([...named.values(), ...own.values()]);
  const payload: CheckpointPayload = {
    id: dumped.id,
    ...(ns === '' ? {} : { ns }),
    ...(dumped.parent === undefined ? {} : { parent: dumped.parent }),
    checkpoint: dumped.checkpoint,
    metadata: dumped.metadata,
    values,
    parts: parts.texts,
  };
  const locate = (seq: number, lane: LaneState): KnownCheckpoint => {
    const settledValues = [...own].map(([channel, located]): [string, ChannelValue] => [
      channel,
      { ...settled(located, seq), at: seq, version: dumped.versions[channel]! },
    ]);
    memory.note(
      threadId,
      parts.hashes,
      parts.texts.map((_, index) => settle({ seq: -1, index }, seq)),
    );
    return { values: new Map([...named, ...settledValues]), lane };
  };
  return { payload, locate };
}

interface WritesTarget {
  db: Database;
  threadId: string;
  ns: string;
  memory: Memory;
  contextRef: string;
}

interface TaskWrites {
  /** Of the checkpoint. */
  id: string;
  taskId: string;
  taskPath: string;
  writes: readonly DumpedWrite[];
}

/** Appends the writes of a task, unless they are in force already. */
export async function putWrites(target: WritesTarget, { id, taskId, taskPath, writes }: TaskWrites): Promise<void> {
  const { db, threadId, ns, memory, contextRef } = target;
  if (writes.length === 0) return;
  let content = JSON.stringify([taskId, taskPath, writes]);
  // an error, interrupt or resume replaces an earlier one, so the same one may come again
  if (writes.some(({ idx }) => idx < 0)) {
    const { seq, inForce } = await readInForce(target, { id, taskId, taskPath, writes });
    if (inForce) return;
    content += ` after ${seq}`;
  }
  const parts = new Parts(memory.texts(threadId));
  const stored = writes.map(({ idx, channel, value }) => ({ idx, channel, ...store(parts, value) }));
  assertReadable(stored.map(({ located }) => located));
  const payload: WritesPayload = {
    checkpoint: id,
    ...(ns === '' ? {} : { ns }),
    task: taskId,
    ...(taskPath === '' ? {} : { path: taskPath }),
    writes: stored.map(({ idx, channel, stored: value }) => [idx, channel, value]),
    parts: parts.texts,
  };
  const { firstSeq: seq, duplicate } = await appendHistory(db, threadId, {
    entry: { kind: writesKind, contextRef, payload: payload as unknown as JsonObject },
    idempotencyKey: additionKey(ns, id, content),
    hash: shortHash(content),
  });
  if (duplicate) return;
  memory.note(
    threadId,
    parts.hashes,
    parts.texts.map((_, index) => settle({ seq: -1, index }, seq)),
  );
}

/** Whether the writes are in force, and the last entry with writes of this checkpoint. */
async function readInForce(
  { db, threadId, ns }: WritesTarget,
  { id, taskId, writes }: TaskWrites,
): Promise<{ seq: number; inForce: boolean }> {
  const { entries } = await readAppended(db, threadId, additionsTo(ns, id));
  const stored = entries
    .filter(({ kind, payload }) => kind === writesKind && payload['checkpoint'] === id)
    .sort((a, b) => a.seq - b.seq);
  const found = foldWrites(stored);
  const own = new Map(stored.map(({ seq, payload }) => [seq, payload['parts'] as string[]]));
  const texts = await readTexts(db, threadId, addressesOfWrites(found), own);
  const ofTask = stored.filter(({ payload }) => payload['task'] === taskId);
  return { seq: ofTask.at(-1)?.seq ?? -1, inForce: areInForce(writes, taskId, found, texts) };
}
