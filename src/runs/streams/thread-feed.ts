import type { RunEvent } from '../../database/store/trace/read-events.ts';
import { LiveText } from './assemble-deltas.ts';
import { onAbort } from '../../base/common/on-abort.ts';

/** Number of recent events kept for readers that keep up; readers further behind read their own pages. */
const kept = 256;

/**
 * The newest events of a thread in this process, shared by all its readers. Memory is bounded, however many readers
 * there are.
 */
export class ThreadFeed {
  /** The last event read; -1 for none. */
  head: number;
  /** Increases with every change. */
  version = 0;
  /** True once nothing more will come: the thread was erased, or this process closes. */
  ended = false;
  /** True if the last page was full, so more events are already stored. */
  more = false;
  readonly live = new LiveText();
  #recent: RunEvent[] = [];
  readonly #waiting = new Set<() => void>();

  constructor(
    readonly threadId: string,
    head: number,
  ) {
    this.head = head;
  }

  take(events: RunEvent[], { more }: { more: boolean }): void {
    this.more = more;
    const fresh = events.filter((event) => event.eventSeq > this.head);
    if (fresh.length === 0) return;
    for (const event of fresh) this.live.pass(event);
    this.#recent = [...this.#recent, ...fresh].slice(-kept);
    this.head = fresh.at(-1)!.eventSeq;
    this.changed();
  }

  /** The events after `after`; undefined if they are not in memory. */
  since(after: number): RunEvent[] | undefined {
    if (after >= this.head) return [];
    const first = this.#recent[0]?.eventSeq;
    if (first === undefined || after < first - 1) return undefined;
    return this.#recent.slice(after + 1 - first);
  }

  changed(): void {
    this.version += 1;
    for (const wake of [...this.#waiting]) wake();
  }

  end(): void {
    this.ended = true;
    this.changed();
  }

  /** Resolves when the version differs from `version`, or the signal aborts. */
  async changedSince(version: number, signal?: AbortSignal): Promise<void> {
    if (version !== this.version || signal?.aborted) return;
    await new Promise<void>((resolve) => {
      const wake = () => {
        this.#waiting.delete(wake);
        unlisten();
        resolve();
      };
      this.#waiting.add(wake);
      const unlisten = onAbort(signal, wake);
    });
  }
}
