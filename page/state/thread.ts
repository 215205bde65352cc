import { batch, computed, signal, useSignal } from '@preact/signals';
import { get, post, v1 } from '../api/client.ts';
import { serverEvents, type ServerEvent } from '../api/stream.ts';
import type {
  Entry,
  EntryPage,
  ErasureReport,
  Lane,
  LaneList,
  ListedRun,
  OperationReceipt,
  RunPage,
  Thread,
  Mark,
  MarkList,
} from '../api/types.ts';
import { useEffect } from 'preact/hooks';
import { Branches, type Draft } from './branches.ts';

/** Entries per request. A thread may have a million; the page reads only those on view. */
const pageSize = 200;
/** How many of the newest runs the page lists. */
export const listedRuns = 50;

/** Kinds of events with which a run ends. */
const ends = new Set<unknown>(['request_completed', 'request_failed', 'request_cancelled']);

interface LiveAnswer {
  runId: string;
  text: string;
  thinking: string;
}

/** The state of a thread view: its newest entries, live, or the log as of an earlier entry. */
export class ThreadState {
  readonly thread = signal<Thread | undefined>(undefined);
  readonly entries = signal<Entry[]>([]);
  readonly runs = signal<ListedRun[]>([]);
  readonly lanes = signal<Lane[]>([]);
  readonly branches = new Branches(
    (part, query) => this.#read(part, query),
    (error) => {
      if (!this.#left.signal.aborted) this.error.value = error as Error;
    },
  );
  readonly draft = signal<Draft | undefined>(undefined);
  /** Answers being streamed, by the id of their call. */
  readonly answers = signal<ReadonlyMap<string, LiveAnswer>>(new Map());
  /** The entry as of which the thread is shown; null: live. */
  readonly at = signal<number | null>(null);
  readonly paused = signal(false);
  readonly connected = signal(false);
  readonly error = signal<Error | undefined>(undefined);
  /** What was removed, once the reader has erased the thread. */
  readonly erased = signal<ErasureReport | undefined>(undefined);
  readonly head = computed(() => (this.thread.value?.rev ?? 0) - 1);
  readonly shownAt = computed(() => this.at.value ?? this.head.value);
  readonly activeRun = computed(() => this.runs.value.find(({ id }) => id === this.thread.value?.active_run_id));
  readonly #left = new AbortController();
  /** Runs that have ended: deltas have a way of their own, and may come later than the entry that has their answer. */
  readonly #ended = new Set<unknown>();
  #refreshing: Promise<void> | undefined;
  #again = false;

  constructor(readonly id: string) {}

  async open(at: number | null): Promise<void> {
    try {
      await this.#readAround(at);
      void this.#follow((this.thread.value?.event_rev ?? 0) - 1);
    } catch (error) {
      if (!this.#left.signal.aborted) this.error.value = error as Error;
    }
  }

  close(): void {
    this.#left.abort();
  }

  /** Shows the log as of an entry; null: live. */
  async seek(at: number | null): Promise<void> {
    this.at.value = at;
    const shown = this.entries.value;
    const covered = at !== null && shown.length > 0 && shown[0]!.seq <= at && at <= shown.at(-1)!.seq;
    if (!covered) await this.#readAround(at);
  }

  async showEarlier(): Promise<void> {
    const first = this.entries.value[0]?.seq ?? 0;
    const earlier = await this.#readUpTo(first - 1);
    // discard them if the reader has asked twice or moved elsewhere meanwhile
    if (this.entries.value[0]?.seq === first) this.entries.value = [...earlier, ...this.entries.value];
  }

  /** Reads new data. Calls during a read are served by one more read. */
  refresh(): Promise<void> {
    this.#again = true;
    this.#refreshing ??= (async () => {
      while (this.#again && !this.#left.signal.aborted) {
        this.#again = false;
        await this.#readNew().catch((error: unknown) => (this.error.value = error as Error));
      }
      this.#refreshing = undefined;
    })();
    return this.#refreshing;
  }

  resume(): void {
    this.paused.value = false;
    void this.refresh();
  }

  /**
   * Makes a lane the active one: the one that the thread shows, and on which questions are asked that name none. Returns
   * whether it is now; otherwise it will be when the active run has ended.
   */
  async switchTo(lane: string): Promise<boolean> {
    const change = { context_ref: lane, operation: { type: 'switch' } };
    const { status } = await post<OperationReceipt>(v1('threads', this.id, 'context-operations'), change);
    await this.refresh();
    return status !== 'deferred';
  }

  #read<T>(part: string, query: Record<string, string | number | undefined> = {}): Promise<T> {
    return get<T>(v1('threads', this.id, ...(part ? [part] : [])), query, this.#left.signal);
  }

  async #readAround(at: number | null): Promise<void> {
    const thread = await this.#read<Thread>('');
    // one entry more, which shows when that moment ended
    const end = Math.min((at ?? thread.rev) + 1, thread.rev - 1);
    const [entries] = await Promise.all([this.#readUpTo(end), this.#readAside(thread.rev)]);
    batch(() => {
      this.thread.value = thread;
      this.at.value = at;
      this.entries.value = entries;
    });
  }

  /**
   * The entries before and including `end`, without a gap. Asks for fewer if large entries make the server end a page
   * early.
   */
  async #readUpTo(end: number): Promise<Entry[]> {
    for (let count = pageSize; ;) {
      const after = Math.max(-1, end - count);
      const { data } = await this.#read<EntryPage>('entries', { after, limit: Math.max(1, end - after) });
      if (count === 1 || (data.at(-1)?.seq ?? end) >= end) return data;
      count = Math.max(1, Math.min(count >> 1, data.length));
    }
  }

  async #readAside(rev: number): Promise<void> {
    const [runs, lanes] = await Promise.all([
      this.#read<RunPage>('runs', { limit: listedRuns }),
      this.#read<LaneList>('contexts'),
    ]);
    if (lanes.data.length > 1 || this.branches.whole) await this.branches.refresh(rev);
    batch(() => {
      this.runs.value = runs.data;
      this.lanes.value = lanes.data;
    });
  }

  async #readNew(): Promise<void> {
    const thread = await this.#read<Thread>('');
    await this.#readAside(thread.rev);
    const found: Entry[] = [];
    if (this.at.value === null) {
      for (let after: number | null = this.entries.value.at(-1)?.seq ?? -1; after !== null;) {
        const page: EntryPage = await this.#read('entries', { after, limit: 1_000 });
        found.push(...page.data);
        after = page.next_after;
      }
    }
    batch(() => {
      this.thread.value = thread;
      const last = this.entries.value.at(-1)?.seq ?? -1;
      if (this.at.value === null)
        this.entries.value = [...this.entries.value, ...found.filter(({ seq }) => seq > last)];
      const answered = new Set(found.map(({ refs }) => refs['llm_call_id']));
      const open = [...this.answers.value].filter(
        ([callId, { runId }]) => !answered.has(callId) && runId === thread.active_run_id,
      );
      this.answers.value = new Map(open);
    });
  }

  async #follow(after: number): Promise<void> {
    const path = v1('threads', this.id, 'events');
    const connected = (now: boolean) => (this.connected.value = now);
    for await (const event of serverEvents(path, after, this.#left.signal, connected)) {
      const { kind, run_id: runId } = event.data;
      if (event.event === 'llm_delta' || event.event === 'llm_snapshot') {
        if (!this.#ended.has(runId)) this.#write(event);
        continue;
      }
      if (ends.has(kind)) this.#ended.add(runId);
      if (!this.paused.value) void this.refresh();
    }
  }

  /** Adds to a streamed answer. While paused, the text is still updated and shown on resume. */
  #write({ event, data }: ServerEvent): void {
    const id = String(data['llm_call_id']);
    const before = this.answers.value.get(id) ?? { runId: String(data['run_id']), text: '', thinking: '' };
    const part = (name: 'text' | 'thinking'): string => {
      const more = data[name];
      if (typeof more !== 'string') return before[name];
      return event === 'llm_snapshot' ? more : before[name].slice(0, Number(data['offset'])) + more;
    };
    this.answers.value = new Map(this.answers.value).set(id, {
      runId: before.runId,
      text: part('text'),
      thinking: part('thinking'),
    });
  }
}

/** Runs per request. */
const most = 100;
/** Marks whose entries already show what happened. */
const told = new Set(['prompt_changed', 'context_replaced', 'compacted']);

/** The marks of the runs of a thread: at an entry, or at the run as a whole. */
export interface ThreadMarks {
  ofEntry: ReadonlyMap<number, Mark[]>;
  ofRun: ReadonlyMap<string, Mark[]>;
  /** Why the last read failed; the next change of the thread retries. */
  error: Error | undefined;
  /** The first read has ended, or takes so long that the entries need not wait for it. */
  ready: boolean;
}

/** How long the entries wait for their marks, so that nothing moves when they come. */
const patienceMs = 400;

/**
 * Reads the marks of the visible runs: once for ended runs, and again after feedback on them, for others after every change
 * of the thread.
 */
export function useMarks(state: ThreadState): ThreadMarks {
  const known = useSignal<ReadonlyMap<string, Mark[]>>(new Map());
  const ended = useSignal<ReadonlySet<string>>(new Set());
  const error = useSignal<Error | undefined>(undefined);
  const ready = useSignal(false);
  const entries = state.entries.value;
  const unended = unendedRuns(state);
  const first = entries[0]?.at ?? '';
  // a run without entries is known only from the list of runs
  const recent = state.runs.value.filter(({ finished_at: at }) => at === null || at >= first);
  const inSight = new Set([...entries.flatMap(({ run_id: id }) => id ?? []), ...recent.map(({ id }) => id)]);
  const opinions = entries.flatMap(({ kind, payload }) => (kind === 'feedback' ? [payload['run_id']] : []));
  const asOf = (id: string) => `${id} ${opinions.filter((of) => of === id).length}`;
  const wanted = [...inSight].filter((id) => !ended.value.has(asOf(id)));
  useEffect(() => {
    const left = new AbortController();
    const read = async () => {
      for (let from = 0; from < wanted.length; from += most) {
        const ids = wanted.slice(from, from + most);
        const path = v1('threads', state.id, 'marks');
        const { data } = await get<MarkList>(path, { run_ids: ids.join() }, left.signal);
        known.value = new Map([
          ...known.value,
          ...ids.map((id) => [id, data.filter((mark) => mark.run_id === id)] as const),
        ]);
        ended.value = new Set([...ended.value, ...ids.filter((id) => !unended.has(id)).map(asOf)]);
      }
      error.value = undefined;
    };
    read()
      .catch((caught: unknown) => {
        if (!left.signal.aborted) error.value = caught as Error;
      })
      .finally(() => {
        if (!left.signal.aborted) ready.value = true;
      });
    return () => left.abort();
  }, [wanted.join(), state.thread.value?.event_rev]);
  useEffect(() => {
    const timer = setTimeout(() => (ready.value = true), patienceMs);
    return () => clearTimeout(timer);
  }, []);
  const ofEntry = new Map<number, Mark[]>();
  const ofRun = new Map<string, Mark[]>();
  for (const [runId, marks] of known.value)
    for (const mark of inSight.has(runId) ? marks : [])
      if (told.has(mark.kind)) continue;
      else if (mark.seq === null) ofRun.set(runId, [...(ofRun.get(runId) ?? []), mark]);
      else ofEntry.set(mark.seq, [...(ofEntry.get(mark.seq) ?? []), mark]);
  return { ofEntry, ofRun, error: error.value, ready: ready.value };
}

/** Runs not known to have ended. An entry may arrive before its run is in the list. */
function unendedRuns(state: ThreadState): ReadonlySet<string> {
  const runs = new Set(state.runs.value.map(({ id }) => id));
  // the list has only the newest runs: an unlisted run with entries before the oldest of them has long ended
  const oldest = runs.size < listedRuns ? undefined : state.runs.value.at(-1)!.created_at;
  const open = state.runs.value.filter(({ finished_at: at }) => at === null).map(({ id }) => id);
  const unlisted = state.entries.value.flatMap(({ run_id: id, at }) =>
    id !== null && !runs.has(id) && (oldest === undefined || at >= oldest) ? id : [],
  );
  return new Set([...open, ...unlisted]);
}
