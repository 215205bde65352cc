import { Recent } from '../../base/common/caches.ts';
import { laneView, shownOf } from '../../runs/formats/mirror/lane-view.ts';
import { emptyLane, readLaneField, type LaneState, type Address } from '../../runs/formats/mirror/addresses.ts';
import { turnsOf, turnsOfText } from '../../runs/formats/mirror/langchain.ts';
import { withHashes } from './read-values.ts';
import type { FoundCheckpoint } from './read-checkpoints.ts';
import type { ChannelValue } from './stored.ts';
import { parseJson } from '../../base/common/json.ts';
import { isLanefoldError } from '../../base/errors.ts';
import type { Database } from '../../database/postgres/pool.ts';
import { createThread } from '../../database/store/log/read-thread.ts';
import { threadOf } from './keys.ts';

/** What the next checkpoint builds on. */
export interface KnownCheckpoint {
  values: ReadonlyMap<string, ChannelValue>;
  lane: LaneState;
}

/** Texts of a thread, by hash. */
type KnownTexts = Recent<string, Address>;

/** In items, each of which takes about 100 bytes: room for 125 small checkpoints, or for some of long conversations. */
const weightOf = ({ values, lane }: KnownCheckpoint): number =>
  [...values.values()].reduce((sum, value) => sum + ('items' in value ? value.items.length : 1), 800) +
  (lane.shown?.keys.length ?? 0);

const keyOf = (threadId: string, ns: string, id: string): string => `${threadId} ${id} ${ns}`;

/**
 * What this process remembers of checkpoints and texts, so that storing the next checkpoint reads nothing. Entries never
 * change, so nothing of it becomes wrong; another process that stored the next checkpoint only makes it useless.
 */
export class Memory {
  readonly #checkpoints = new Recent<string, KnownCheckpoint>(100_000, weightOf);
  readonly #texts = new Recent<string, KnownTexts>(64);

  get(threadId: string, ns: string, id: string): KnownCheckpoint | undefined {
    return this.#checkpoints.get(keyOf(threadId, ns, id));
  }

  set(threadId: string, ns: string, id: string, known: KnownCheckpoint): void {
    this.#checkpoints.set(keyOf(threadId, ns, id), known);
    for (const value of known.values.values()) {
      if ('items' in value) this.note(threadId, value.hashes, value.items);
      else this.note(threadId, [value.hash], [value.address]);
    }
  }

  texts(threadId: string): KnownTexts {
    return this.#texts.get(threadId) ?? this.#texts.set(threadId, new Recent(4_096));
  }

  note(threadId: string, hashes: readonly string[], addresses: readonly Address[]): void {
    const texts = this.texts(threadId);
    for (const [i, hash] of hashes.entries()) if (texts.get(hash) === undefined) texts.set(hash, addresses[i]!);
  }
}

/** What the log says about a checkpoint. `channel`: the one with the messages of the lane; undefined without lanes. */
export function knownFrom(
  { seq, payload, values, texts }: FoundCheckpoint,
  channel: string | undefined,
): KnownCheckpoint {
  const { channel_versions: versions } = parseJson(payload.checkpoint) as {
    channel_versions: Record<string, string | number>;
  };
  const known = new Map(
    [...values].map(([name, { at, located }]): [string, ChannelValue] => [
      name,
      { ...withHashes(located, texts), at, version: String(versions[name]) },
    ]),
  );
  return { values: known, lane: laneState({ seq, payload, values, texts }, channel) };
}

function laneState(
  { seq, payload, values, texts }: Omit<FoundCheckpoint, 'writes'>,
  channel: string | undefined,
): LaneState {
  if (channel === undefined || payload.lane === undefined) return emptyLane;
  const lastSeq = readLaneField(payload.lane, seq);
  const found = values.get(channel)?.located;
  if (!found) return lastSeq < 0 ? emptyLane : { lastSeq, shown: undefined };
  const turns = 'items' in found ? turnsOf(found.items.map(texts)) : turnsOfText(texts(found.address));
  return { lastSeq, shown: turns && shownOf(laneView(turns)) };
}

/** Finds the thread that a thread of LangGraph is now: see `threadOf`. */
export class LangGraphThreads {
  readonly #generations = new Recent<string, number>(1_024);

  /** Works on the thread; after `thread_erased`, on the one that comes after it. */
  async find<T>(id: string, work: (threadId: string) => Promise<T>): Promise<T> {
    for (;;) {
      const generation = this.#generations.get(id) ?? 1;
      try {
        return await work(threadOf(id, generation));
      } catch (error) {
        if (!isLanefoldError(error, 'thread_erased')) throw error;
        this.#generations.set(id, generation + 1);
      }
    }
  }

  /** As `find`, and creates the thread where it does not exist. @throws LanefoldError `thread_exists` of another tenant */
  findOrCreate<T>(db: Database, id: string, work: (threadId: string) => Promise<T>): Promise<T> {
    return this.find(id, async (threadId) => {
      try {
        return await work(threadId);
      } catch (error) {
        if (!isLanefoldError(error, 'thread_not_found')) throw error;
      }
      const taken: unknown = await createThread(db, { id: threadId, tenantId: db.tenant }).then(
        () => undefined,
        (error: unknown) => error,
      );
      if (taken && !isLanefoldError(taken, 'thread_exists')) throw taken;
      return work(threadId).catch((error: unknown) => {
        // another process has created it; or another tenant has it, and this one cannot
        throw taken && isLanefoldError(error, 'thread_not_found') ? taken : error;
      });
    });
  }
}
