import type { Database } from '../../../database/postgres/pool.ts';
import {
  spreadEvents,
  takeDeliveries,
  openEndpoints,
  waitingEvents,
  type WaitingEvent,
} from '../store/due-deliveries.ts';
import { settleDeliveries, type Attempt, type EndedAttempt } from '../store/deliveries.ts';
import type { AttemptOutcome } from '../../../runs/telemetry/telemetry.ts';
import { chooseAttempts, countEnd, deliver, outcomeOf } from './deliver.ts';
import type { SendOptions } from './send.ts';
import { after, type Timer } from '../../../base/common/timer.ts';

/**
 * How many deliveries of one endpoint are in flight in all workers together: a tenth of what one worker sends at once, so
 * that an endpoint that hangs leaves room for others. Of one that fails, one, which a sweep chooses.
 */
const each = 10;
const failing = 1;
/** What a worker sends at once: sockets rather than work, because an attempt mostly waits for its receiver. */
const slots = 100;
/** How long another worker waits beyond the time limit of an attempt before it makes the next one, in ms. */
const leaseGraceMs = 20_000;
/** How long after a look the next one at new events comes at least, in ms: under load, it finds many of them. */
const gatherMs = 20;
/** How much older than the oldest event an event may be that is committed later, in ms. */
const lateMs = 1_000;
/** How long an attempt that has ended waits for others that are in flight, to be recorded with them, in ms. */
const recordMs = 10;
/** How long a worker that stops waits for the answers of its attempts, in ms. */
const lastAnswersMs = 2_000;

export interface DispatcherDependencies {
  db: Database;
  send: Omit<SendOptions, 'stop'>;
  onError: (error: unknown) => void;
  onAttempt: (outcome: AttemptOutcome) => void;
}

/**
 * Makes the attempts that are due. Looks for them, begins as many as it has slots for in one statement, and records how they
 * ended in one statement for all that ended meanwhile. Should this worker die in between, receivers may have got their
 * events, and other attempts are made with the same `webhook-id`.
 */
export class Dispatcher {
  #looking: Promise<void> | undefined;
  /** What the next look is for: events, all endpoints, those that fail too, or only these. */
  #wanted = nothing();
  /**
   * Looks between sweeps start here: while a snapshot is held, the index of the outbox keeps all events that were taken
   * since, and a look from the beginning reads them all.
   */
  #eventsFrom: Date | undefined;
  #gathering: Timer | undefined;
  #lookedAt = -Infinity;
  /** Endpoints for which more was due than could be in flight: the next goes when one is recorded. */
  readonly #behind = new Set<string>();
  #closed = false;
  /** Attempts that have begun and are not recorded. */
  #begun = 0;
  readonly #sending = new Set<Promise<void>>();
  #ended: { attempt: Attempt; ended: EndedAttempt }[] = [];
  #settling: Promise<void> | undefined;
  #settlingSoon: Timer | undefined;
  readonly #stop = new AbortController();

  constructor(private readonly deps: DispatcherDependencies) {}

  get isBusy(): boolean {
    return this.#begun > 0 || this.#looking !== undefined || this.#gathering !== undefined;
  }

  /**
   * Looks what is due. Calls during a look lead to one more.
   *
   * @param sweeping also at endpoints whose last attempt failed
   */
  look(sweeping = false): Promise<void> {
    this.#wanted.all = true;
    this.#wanted.sweep ||= sweeping;
    return this.#begin();
  }

  /** Looks at events that were just noted; at once, unless it has looked just before. */
  lookAtEvents(): void {
    if (this.#gathering || this.#closed) return;
    this.#gathering = after(this.#lookedAt + gatherMs - performance.now(), () => {
      this.#gathering = undefined;
      this.#wanted.events = true;
      void this.#begin();
    });
  }

  /** Attempts that are not answered soon are ended; other workers make them again. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#gathering?.cancel();
    await this.#looking;
    const patience = after(lastAnswersMs, () => this.#stop.abort());
    await Promise.all(this.#sending);
    patience.cancel();
    while (this.#settling) await this.#settling;
  }

  #begin(): Promise<void> {
    if (!this.#looking && this.#mayLook()) this.#looking = this.#look().finally(() => this.#looked());
    return this.#looking ?? Promise.resolve();
  }

  /** A call may have come after the last look was over, and before this. */
  #looked(): void {
    this.#looking = undefined;
    void this.#begin();
  }

  #mayLook(): boolean {
    const { events, all, only } = this.#wanted;
    return !this.#closed && this.#begun < slots && (events || all || only.size > 0);
  }

  async #look(): Promise<void> {
    while (this.#mayLook()) {
      const wanted = this.#wanted;
      this.#wanted = nothing();
      await this.#dispatch(wanted).catch(this.deps.onError);
    }
  }

  async #dispatch({ sweep, all, only }: Wanted): Promise<void> {
    const { db, send } = this.deps;
    this.#lookedAt = performance.now();
    const free = slots - this.#begun;
    const events = await this.#findEvents(sweep, free);
    const ids = all ? undefined : [...new Set([...only, ...events.flatMap(({ webhook_ids }) => webhook_ids)])];
    const endpoints = await openEndpoints(db, { each, failing: sweep ? failing : 0 }, ids);
    const chosen = chooseAttempts(endpoints, events, free);
    for (const { id } of endpoints) this.#behind.delete(id);
    for (const id of chosen.behind) this.#behind.add(id);
    this.#wanted.all ||= chosen.moreDue;
    this.#wanted.events ||= chosen.moreEvents || events.length === free;
    const leaseMs = send.timeoutMs + leaseGraceMs;
    const begun = await Promise.allSettled([
      spreadEvents(db, chosen.events, leaseMs),
      takeDeliveries(db, chosen.due, leaseMs),
    ]);
    for (const some of begun)
      if (some.status === 'fulfilled') for (const attempt of some.value) this.#send(attempt);
      else this.deps.onError(some.reason);
  }

  async #findEvents(sweep: boolean, most: number): Promise<WaitingEvent[]> {
    if (sweep) this.#eventsFrom = undefined;
    const events = await waitingEvents(this.deps.db, most, this.#eventsFrom);
    if (events.length > 0) this.#eventsFrom ??= new Date(events[0]!.created_at.getTime() - lateMs);
    return events;
  }

  #send(attempt: Attempt): void {
    this.#begun++;
    const sending = deliver(attempt, { ...this.deps.send, stop: this.#stop.signal }, this.deps.db.settings.clock)
      .then((ended) => {
        this.#ended.push({ attempt, ended });
      })
      // another attempt begins when the time of this one is over
      .catch((error: unknown) => {
        this.#begun--;
        this.deps.onError(error);
      })
      .finally(() => {
        this.#sending.delete(sending);
        this.#settleTogether();
      });
    this.#sending.add(sending);
  }

  /** Records what has ended once nothing is in flight, or soon: what is recorded one by one makes room for the next one by one. */
  #settleTogether(): void {
    if (this.#settling || this.#ended.length === 0) return;
    const settle = () => {
      this.#settlingSoon?.cancel();
      this.#settlingSoon = undefined;
      this.#settling ??= this.#settle().finally(() => {
        this.#settling = undefined;
        this.#settleTogether();
      });
    };
    if (this.#sending.size === 0) settle();
    else this.#settlingSoon ??= after(recordMs, settle);
  }

  /** Records the attempts that have ended. What could not be recorded is made again. */
  async #settle(): Promise<void> {
    const { db, onError, onAttempt } = this.deps;
    const some = this.#ended;
    this.#ended = [];
    try {
      const given = some.map(({ ended }) => ended);
      const next = await settleDeliveries(db, given);
      await Promise.all(some.map(({ attempt, ended }) => countEnd(db, attempt, ended)));
      for (const { ended } of some) onAttempt(outcomeOf(ended));
      for (const { attempt, ended } of some)
        if (next || !ended.end || this.#behind.has(attempt.webhook_id)) this.#wanted.only.add(attempt.webhook_id);
    } catch (error) {
      onError(error);
    }
    this.#begun -= some.length;
    void this.#begin();
  }
}

interface Wanted {
  events: boolean;
  all: boolean;
  sweep: boolean;
  only: Set<string>;
}

const nothing = (): Wanted => ({ events: false, all: false, sweep: false, only: new Set() });
