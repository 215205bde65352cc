import {
  BaseCheckpointSaver,
  getCheckpointId,
  type ChannelVersions,
  type Checkpoint,
  type CheckpointListOptions,
  type CheckpointMetadata,
  type CheckpointTuple,
  type DeltaChannelHistory,
  type PendingWrite,
  type SerializerProtocol,
} from '@langchain/langgraph-checkpoint';
import type { RunnableConfig } from '@langchain/core/runnables';
import { assertStorable } from '../../base/checks/values.ts';
import { TurnsByKey } from '../../base/common/promises.ts';
import { isLanefoldError, LanefoldError } from '../../base/errors.ts';
import { databaseOf } from '../../features/library/internals.ts';
import type { TenantLibrary } from '../../features/library/library.ts';
import type { Database } from '../../database/postgres/pool.ts';
import { deltaHistory, listCheckpoints } from './list-checkpoints.ts';
import { dumpCheckpoint } from './dump.ts';
import { assertKept, findCheckpoint, needsSendsOfParent, toTuple } from './read-checkpoints.ts';
import { assertCheckpointId, assertThreadId, laneOf, placeOf } from './keys.ts';
import { knownFrom, Memory, LangGraphThreads } from './known.ts';
import { putCheckpoint, putWrites } from './put.ts';
import { dumpWrites } from './read-values.ts';
import { assertId } from '../../base/checks/ids.ts';
import { refuseUnknownKeys, type KeysOf } from '../../base/checks/unknown-keys.ts';

/**
 * Keeps the checkpoints of LangGraph graphs in the log of a thread with the same id, and their messages on a lane.
 *
 * A checkpoint is an entry of the kind `langgraph_checkpoint`, which has what changed; the writes of a task are an entry
 * of the kind `langgraph_writes`. Erasure, tenants and tamper evidence apply to them as to every entry.
 *
 * @throws LanefoldError `invalid_input`, `invalid_id` for options; its methods throw `invalid_id`, `invalid_input` for a
 * value that cannot be serialised, `lane_busy` while a run of Lanefold is active on the lane, `context_too_large`,
 * `thread_exists` for a thread of another tenant, and `thread_busy` from `deleteThread` while a run is active
 *
 * @example
 * ```ts
 * import { Annotation, StateGraph } from '@langchain/langgraph';
 * import { createLanefold } from 'lanefold';
 * import { LanefoldSaver } from 'lanefold/langgraph';
 *
 * const lanefold = await createLanefold({ migrate: true });
 * const graph = new StateGraph(Annotation.Root({ count: Annotation<number> }))
 *   .addNode('add', ({ count }) => ({ count: count + 1 }))
 *   .addEdge('__start__', 'add')
 *   .compile({ checkpointer: new LanefoldSaver(lanefold) });
 * await graph.invoke({ count: 1 }, { configurable: { thread_id: 'counter-7' } });
 * await lanefold.close();
 * ```
 */
export class LanefoldSaver extends BaseCheckpointSaver {
  readonly #lanefold: Pick<TenantLibrary, 'threads'>;
  readonly #db: Database;
  readonly #lane: string | undefined;
  readonly #channel: string;
  readonly #threads = new LangGraphThreads();
  readonly #memory = new Memory();
  readonly #turns = new TurnsByKey();

  constructor(lanefold: Pick<TenantLibrary, 'threads'>, options: LanefoldSaverOptions = {}) {
    const { lane, channel } = readOptions(options);
    super(options.serde);
    this.#lanefold = lanefold;
    this.#db = databaseOf(lanefold, 'LanefoldSaver');
    this.#lane = lane;
    this.#channel = channel;
  }

  /**
   * Where the messages of a thread of LangGraph are: its thread of Lanefold, which differs from `thread_id` after
   * `deleteThread`, and the lane of its `checkpoint_ns`.
   *
   * @throws LanefoldError `invalid_id`; `invalid_input` if this saver has no lanes
   */
  async laneOf(config: RunnableConfig): Promise<{ threadId: string; contextRef: string }> {
    const { threadId: id, ns } = placeOf(config);
    if (this.#lane === undefined) {
      throw new LanefoldError('invalid_input', 'This saver keeps no messages on lanes.', {
        hint: 'Pass lane to its constructor.',
      });
    }
    const contextRef = laneOf(this.#lane, ns);
    return { threadId: await this.#current(id), contextRef };
  }

  /** The checkpoint of `checkpoint_id`, or the newest one; undefined if it does not exist. */
  async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    if (config.configurable?.['thread_id'] === undefined) return undefined;
    const place = placeOf(config);
    const id = getCheckpointId(config) || undefined;
    if (id !== undefined) assertCheckpointId(id);
    return this.#threads.find(place.threadId, async (threadId) => {
      const found = await findCheckpoint(this.#db, threadId, place.ns, id);
      if (!found) return undefined;
      this.#memory.set(threadId, place.ns, found.payload.id, knownFrom(found, this.#channelOfLane));
      const parent = needsSendsOfParent(found)
        ? await findCheckpoint(this.#db, threadId, place.ns, found.payload.parent)
        : undefined;
      return toTuple(this, place, found, parent);
    });
  }

  /** Checkpoints, the newest first. */
  async *list(config: RunnableConfig, options: CheckpointListOptions = {}): AsyncGenerator<CheckpointTuple> {
    const { thread_id: id, checkpoint_ns: ns, checkpoint_id: only } = config.configurable ?? {};
    const before = (options.before && getCheckpointId(options.before)) || undefined;
    if (only) assertCheckpointId(only);
    if (before !== undefined) assertCheckpointId(before);
    const { limit, filter } = options;
    const query = { ns: ns as string | undefined, only: (only as string) || undefined, before, limit, filter };
    if (id === undefined) {
      yield* listCheckpoints(this, this.#db, undefined, query);
      return;
    }
    const { threadId: given } = placeOf(config);
    yield* listCheckpoints(this, this.#db, await this.#current(given), query);
  }

  /** Stores a checkpoint; `newVersions` are the channels that changed since the one that the config names. */
  async put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: ChannelVersions,
  ): Promise<RunnableConfig> {
    const { threadId: given, ns } = placeOf(config);
    const parentId = getCheckpointId(config) || undefined;
    assertCheckpointId(checkpoint.id);
    if (parentId !== undefined) assertCheckpointId(parentId);
    const dumping = dumpCheckpoint(this.serde, checkpoint, metadata, newVersions, parentId);
    dumping.catch(() => {});
    await this.#turns.take(given, async () => {
      const dumped = await dumping;
      await this.#threads.findOrCreate(this.#db, given, async (threadId) => {
        const parent = parentId === undefined ? undefined : await this.#known(threadId, ns, parentId);
        await putCheckpoint({ ...this.#target(threadId, ns), memory: this.#memory }, dumped, parent);
      });
    });
    return { configurable: { thread_id: given, checkpoint_ns: ns, checkpoint_id: checkpoint.id } };
  }

  /** Stores the writes of a task to a checkpoint, which need not be stored yet. */
  async putWrites(config: RunnableConfig, writes: PendingWrite[], taskId: string, taskPath = ''): Promise<void> {
    const { threadId: given, ns } = placeOf(config);
    const id = getCheckpointId(config);
    assertCheckpointId(id);
    assertStorable([taskId, taskPath, writes.map(([channel]) => channel)], 'The writes');
    const dumping = dumpWrites(this.serde, writes);
    dumping.catch(() => {});
    await this.#turns.take(given, async () => {
      const dumped = await dumping;
      await this.#threads.findOrCreate(this.#db, given, (threadId) =>
        putWrites({ ...this.#target(threadId, ns), memory: this.#memory }, { id, taskId, taskPath, writes: dumped }),
      );
    });
  }

  /**
   * Erases the thread of Lanefold, with everything else that it has. LangGraph may use the id again: its next checkpoint
   * then goes to a new thread, see `laneOf`.
   */
  async deleteThread(threadId: string): Promise<void> {
    assertThreadId(threadId);
    await this.#turns.take(threadId, () =>
      this.#threads.find(threadId, async (current) => {
        await this.#lanefold.threads.erase(current).catch((error: unknown) => {
          if (!isLanefoldError(error, 'thread_not_found')) throw error;
        });
      }),
    );
  }

  /**
   * The writes that the values of channels grew from, since the nearest ancestor that has a value: its `seed`. LangGraph
   * calls it for its delta channels.
   */
  override getDeltaChannelHistory(options: {
    config: RunnableConfig;
    channels: string[];
  }): Promise<Record<string, DeltaChannelHistory>> {
    const { threadId: given, ns } = placeOf(options.config);
    const id = getCheckpointId(options.config) || undefined;
    return this.#threads.find(given, (threadId) =>
      deltaHistory(this.serde, this.#db, { threadId, ns, id, channels: options.channels }),
    );
  }

  get #channelOfLane(): string | undefined {
    return this.#lane === undefined ? undefined : this.#channel;
  }

  /** The thread of Lanefold that a thread of LangGraph is now. */
  #current(id: string): Promise<string> {
    return this.#threads.find(id, async (threadId) => {
      await assertKept(this.#db, threadId, 'default');
      return threadId;
    });
  }

  #target(threadId: string, ns: string) {
    const contextRef = laneOf(this.#lane ?? 'langgraph', ns);
    const lane = this.#lane === undefined ? undefined : { contextRef, channel: this.#channel };
    return { db: this.#db, threadId, ns, contextRef, lane };
  }

  async #known(threadId: string, ns: string, id: string) {
    const known = this.#memory.get(threadId, ns, id);
    if (known) return known;
    const found = await findCheckpoint(this.#db, threadId, ns, id);
    return found && knownFrom(found, this.#channelOfLane);
  }
}

export interface LanefoldSaverOptions {
  /** Serialises values; default: LangGraph's own, JSON. */
  serde?: SerializerProtocol;
  /**
   * The lane that shows the messages of the graph, where models, people and SQL can read them; subgraphs have lanes
   * named `<lane>:<namespace>`. `false`: no lanes. Default: `langgraph`; `false` with a `serde` of your own, which may
   * exist to encrypt what lanes would show.
   */
  lane?: string | false;
  /** The channel that has the messages; default `messages`. */
  channel?: string;
}

const optionKeys: KeysOf<LanefoldSaverOptions> = { serde: true, lane: true, channel: true };

/** Longer names of lanes leave no room for a namespace. */
const maxLane = 64;

/** `lane`: undefined without lanes. @throws LanefoldError `invalid_input`, `invalid_id` */
function readOptions(options: LanefoldSaverOptions): { lane: string | undefined; channel: string } {
  refuseUnknownKeys('LanefoldSaver', options, optionKeys);
  const { lane = options.serde ? false : 'langgraph', channel = 'messages' } = options;
  if (lane === false) return { lane: undefined, channel };
  assertId(lane, 'The lane');
  if (lane.length <= maxLane) return { lane, channel };
  throw new LanefoldError('invalid_id', `The name of the lane has ${lane.length} characters.`, {
    hint: `Use at most ${maxLane}: lanes of subgraphs add their namespace to it.`,
  });
}
