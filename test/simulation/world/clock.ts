import type { Acting, Scheduled } from './acting.ts';
import { breathe, enter, quiescence } from './virtual-time.ts';

interface Event extends Scheduled {
  at: number;
  no: number;
  acting: Acting | undefined;
  life: number;
  happen: () => void | Promise<void>;
}

/** Virtual time: events in order, and no two at one moment. */
export class Clock {
  /** Milliseconds since 1970. */
  now = Date.UTC(2026, 0, 1);
  #events: Event[] = [];
  #scheduled = 0;
  #happened = 0;

  /** Schedules something in `ms`, for nobody or for somebody who may be gone by then: in another `life` than this one. */
  in(ms: number, acting: Acting | undefined, happen: Event['happen'], life = acting?.life ?? 0): Scheduled {
    const event = { at: this.now + ms, no: this.#scheduled++, acting, life, happen, cancelled: false };
    this.#add(event);
    return event;
  }

  sleep(ms: number, acting: Acting): Promise<void> {
    return new Promise((resolve) => this.in(ms, acting, resolve));
  }

  /** Asks somebody who answers in `ms`; nothing else happens meanwhile, however long that really takes. */
  ask<Answer>(ms: number, answer: () => Answer | Promise<Answer>): Promise<Answer> {
    return new Promise((resolve) => this.in(ms, undefined, async () => resolve(await answer())));
  }

  /** Lets the next event happen, and everything that follows from it at once. False: it was only a timer, or did not happen. */
  async step(): Promise<boolean> {
    let event: Event | undefined;
    do {
      event = this.#next();
      if (!event) throw new Error('Nothing can happen any more.');
    } while (event.cancelled || (event.acting && event.acting.life !== event.life));
    const { at, acting, happen } = event;
    if (acting && acting.frozenUntil > at) {
      // the same object, which may still be called off
      this.#add(Object.assign(event, { at: acting.frozenUntil, no: this.#scheduled++ }));
      return false;
    }
    this.now = Math.max(this.now + 1, at);
    enter(acting && { clock: this, acting, life: event.life });
    try {
      await happen();
      // whatever waited for it continues before the next event
      await quiescence();
    } finally {
      enter(undefined);
    }
    if (++this.#happened % 100 === 0) await breathe();
    return !event.timer;
  }

  /** A binary heap, ordered by time and then by when they were scheduled. */
  #add(event: Event): void {
    const heap = this.#events;
    let i = heap.push(event) - 1;
    for (let up; i > 0 && before(event, heap[(up = (i - 1) >> 1)]!); i = up) heap[i] = heap[up]!;
    heap[i] = event;
  }

  #next(): Event | undefined {
    const heap = this.#events;
    const [first] = heap;
    const last = heap.pop();
    if (heap.length === 0 || !last) return first;
    let i = 0;
    for (let down = 1; down < heap.length; down = 2 * i + 1) {
      if (down + 1 < heap.length && before(heap[down + 1]!, heap[down]!)) down++;
      if (!before(heap[down]!, last)) break;
      heap[i] = heap[down]!;
      i = down;
    }
    heap[i] = last;
    return first;
  }
}

const before = (a: Event, b: Event): boolean => a.at < b.at || (a.at === b.at && a.no < b.no);
