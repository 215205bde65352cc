import type { RunEvent } from '../../../database/store/trace/types.ts';
import { omitUndefined } from '../../../base/common/json.ts';
import type { JsonObject } from '../../../agent/context/message.ts';
import { applyEffects, type StateEffect } from '../../../agent/context/state.ts';
import type { TenantLibrary } from '../../../features/library/library.ts';
import type { AgUiSnapshot } from '../../../runs/operations/threads/ag-ui-snapshot.ts';
import type { RunRef } from '../../../database/store/run/run.ts';
import { isTerminal } from '../../../runs/streams/deltas.ts';
import type { StreamItem } from '../../../runs/streams/stream.ts';
import { reasoningIdOf, type AgUiEvent, type AgUiMessage } from '../../../runs/formats/ag-ui/event.ts';
import { answerableOf, isClientCall, toInterrupt } from '../../../runs/formats/ag-ui/tool-round.ts';
import { patchOf, snapshotsAfter } from '../../../runs/formats/ag-ui/nodes.ts';
import { callName } from '../../../base/checks/call-name.ts';
import { RunEvents, type EventFacts, type Mapped } from '../../../runs/formats/ag-ui/run-events.ts';
import { EventContext } from './event-facts.ts';
import { orLate } from '../../../base/common/timer.ts';

/** A run that is about to be suspended is looked at, because nothing announces that it is: soon, then less often. */
const firstLookMs = 100;
const maxLookMs = 2_000;
const eventsAtOnce = 500;

/** Follows a run for one response. */
export class FollowedRun {
  readonly #events: RunEvents;
  readonly #facts: EventContext;
  #state: JsonObject;
  readonly #contextRef: string | undefined;
  /** The number of entries that the client has, or will have before the first event. */
  readonly #rev: number;
  /** Whether it has questions that wait for their runs, before and behind this run's question. */
  #ahead: boolean;
  readonly #behind: boolean;
  /** The tool message after which the log may have a change of the state. */
  #toolSeq: number | undefined;

  constructor(
    private readonly lanefold: TenantLibrary,
    private readonly run: RunRef,
    names: { threadId: string; runId: string },
    { state, rev, waitingRuns }: Pick<AgUiSnapshot, 'state' | 'rev' | 'waitingRuns'>,
    contextRef: string | undefined,
  ) {
    this.#events = new RunEvents(names, run.id);
    this.#facts = new EventContext(lanefold, run);
    this.#state = state;
    this.#contextRef = contextRef;
    this.#rev = rev;
    const place = waitingRuns.indexOf(run.id);
    this.#ahead = place !== 0 && waitingRuns.length > 0;
    this.#behind = place + 1 < waitingRuns.length;
  }

  get over(): boolean {
    return this.#events.over;
  }

  /** Takes in what happened before a snapshot. Returns the end of the run if it is among it. */
  async passUntil(snapshot: AgUiSnapshot): Promise<RunEvent | undefined> {
    const end = await this.#passUntil(snapshot);
    if (this.#events.nodes.any) this.#events.nodes.pass(await this.#facts.nodes());
    return end;
  }

  async #passUntil({ messages, eventSeq }: AgUiSnapshot): Promise<RunEvent | undefined> {
    const callsOf = new Map(
      messages.flatMap((of) => (of.role === 'assistant' ? [[of.id, of.toolCalls?.length ?? 0] as const] : [])),
    );
    for (let after = -1; ;) {
      const page = await this.lanefold.runs.events(this.run, { after, limit: eventsAtOnce });
      for (const event of page) {
        if (event.eventSeq > eventSeq) return undefined;
        if (isTerminal(event.kind)) return event;
        // nodes are read at once, below
        const facts = event.data['node'] === undefined ? await this.#facts.of(event, this.#events) : {};
        this.#events.pass(event, callsOf.get(String(event.data['call_id'])) ?? 0, facts);
      }
      after = page.at(-1)?.eventSeq ?? after;
      if (page.length < eventsAtOnce) return undefined;
    }
  }

  /** Reasoning in progress of which the client may have a part, emptied. */
  unfinished(messages: readonly AgUiMessage[]): AgUiMessage[] {
    const ids = new Set([...this.#events.unfinished].map(reasoningIdOf));
    return messages.flatMap(({ id, role }) =>
      role === 'reasoning' && ids.has(id) ? [{ id, role, content: '' } as const] : [],
    );
  }

  /** The client has these messages, and the results of these calls. */
  known(messages: readonly AgUiMessage[], answered: ReadonlySet<string>): void {
    const logged = messages.flatMap((of) => (of.role === 'tool' ? [of.toolCallId] : []));
    this.#events.round.answered(new Set([...logged, ...answered]));
  }

  /** What was used so far was reported at the end of another AG-UI run. */
  forgetUsage(): void {
    this.#events.forgetUsage();
  }

  /** The events after a place in the trace, until the run ends or waits for the client. */
  async *events(after: number, end: RunEvent | undefined, signal: AbortSignal): AsyncGenerator<AgUiEvent> {
    yield* this.#events.announce();
    if (end) {
      yield* this.#sent(this.#events.add({ type: 'event', event: end }, await this.#facts.of(end, this.#events)));
      return;
    }
    const left = new AbortController();
    const options = { after, entries: true, signal: AbortSignal.any([signal, left.signal]) };
    const { items } = await this.lanefold.streams.open(this.run.threadId, this.run.id, options);
    try {
      let next: Promise<IteratorResult<StreamItem, void>> | undefined;
      let lookMs = firstLookMs;
      while (!this.over) {
        if (this.#events.waits.size > 0) yield* this.#stop();
        if (this.over) return;
        next ??= items.next();
        const result = this.#events.waits.size > 0 ? await orPause(next, lookMs) : await next;
        lookMs = result === undefined ? Math.min(2 * lookMs, maxLookMs) : firstLookMs;
        if (result === undefined) continue;
        next = undefined;
        if (result.done) {
          if (!signal.aborted) yield* this.#endAsRecorded();
          return;
        }
        yield* this.#take(result.value);
      }
    } finally {
      left.abort();
    }
  }

  /** The end of a run whose trace was dropped. */
  async *#endAsRecorded(): AsyncGenerator<AgUiEvent> {
    const run = await this.lanefold.runs.get(this.run);
    const { status, result, error, terminationReason: reason, truncated, finishedAt } = run;
    if (finishedAt === null) return;
    const end = reason === null ? {} : { reason, truncated };
    if (status === 'failed')
      yield* this.#sent(this.#events.fail(error?.type ?? 'error', error?.message ?? 'The run failed.'));
    else if (status === 'cancelled') yield* this.#sent(this.#events.finish({ type: 'cancelled' }, end));
    else
      yield* this.#sent(
        this.#events.finish({ type: 'success' }, { ...(typeof result === 'string' ? {} : { result }), ...end }),
      );
  }

  async *#take(item: StreamItem): AsyncGenerator<AgUiEvent> {
    const kind = item.type === 'event' ? item.event.kind : undefined;
    if (kind !== undefined && kind !== 'tool_completed') yield* this.#stateChange();
    if (item.type === 'event' && kind === 'request_started') yield* this.#start(item.event);
    const facts: EventFacts = item.type === 'event' ? await this.#facts.live(item.event, this.#events) : {};
    yield* this.#sent(this.#events.add(item, facts));
    if (item.type === 'event' && kind === 'tool_completed') this.#toolSeq = item.event.data['seq'] as number;
  }

  /** Shows what the log got between the snapshot and the question: other runs went first. */
  async *#start({ data }: RunEvent): AsyncGenerator<AgUiEvent> {
    const seq = Number(data['seq']);
    if (!this.#ahead && seq > this.#rev) {
      const lane = omitUndefined({ contextRef: this.#contextRef });
      const range = { after: this.#rev - 1, kind: 'ai_message', limit: 1, ...lane };
      const [next] = await this.lanefold.threads.entries(this.run.threadId, range);
      this.#ahead = next?.seq !== seq;
    }
    if (!this.#ahead) return;
    yield* snapshotsAfter((await this.#snapshot(seq)).messages, (await this.#snapshot(seq + 1)).messages);
  }

  /** Puts the questions that wait behind the run, and that the client has before its answer, behind its answer. */
  async *#leave(): AsyncGenerator<AgUiEvent> {
    if (this.#behind)
      yield* snapshotsAfter(
        (await this.#snapshot(this.#events.lastSeq + 1)).messages,
        (await this.#snapshot()).messages,
      );
  }

  #snapshot = (before?: number): Promise<AgUiSnapshot> =>
    this.lanefold.threads.agUiSnapshot(this.run.threadId, omitUndefined({ before, contextRef: this.#contextRef }));

  /** Sends mapped events; a retraction becomes a snapshot without what it takes back. */
  async *#sent(mapped: Iterable<Mapped>): AsyncGenerator<AgUiEvent> {
    for (const event of mapped) {
      if (event.type === 'RUN_FINISHED' || event.type === 'RUN_ERROR') yield* this.#leave();
      if (event.type !== 'RETRACT') {
        yield event;
        continue;
      }
      const { messages } = await this.#snapshot(event.lastSeq + 1);
      const emptied = event.reasoning.map((id) => ({ id, role: 'reasoning', content: '' }) as const);
      yield { type: 'MESSAGES_SNAPSHOT', messages: [...messages, ...emptied] };
    }
  }

  /** The change of the state that a tool round has made: the log has it right after the results. */
  async *#stateChange(): AsyncGenerator<AgUiEvent> {
    if (this.#toolSeq === undefined) return;
    const seq = this.#toolSeq + 1;
    this.#toolSeq = undefined;
    const [entry] = await this.lanefold.threads.entries(this.run.threadId, {
      after: seq - 1,
      kind: 'ai_state_change',
      limit: 1,
    });
    if (entry?.seq !== seq) return;
    const before = this.#state;
    this.#state = applyEffects(before, entry.payload['operations'] as unknown as StateEffect[]);
    const delta = patchOf(before, this.#state);
    if (delta === undefined) yield { type: 'STATE_SNAPSHOT', snapshot: this.#state };
    else if (delta.length > 0) yield { type: 'STATE_DELTA', delta };
  }

  /** Ends the response if the run is suspended and the client can answer what it waits for. */
  async *#stop(): AsyncGenerator<AgUiEvent> {
    const run = await this.lanefold.runs.get(this.run);
    const open = run.status === 'suspended' ? answerableOf(run) : [];
    // the trace has not been read up to the suspension
    if (open.length === 0 || !open.every((wait) => this.#events.waits.has(callName(wait)))) return;
    const [{ round }] = open as [(typeof open)[number]];
    const { round: calls } = this.#events;
    if (run.toolCalls.some((call) => call.round === round && call.result !== null && calls.lacks(call.index)))
      yield* calls.early((await this.#snapshot()).messages);
    const asked = open.map((wait) => ({ wait, toolCallId: this.#events.round.toolCallId(wait.index) }));
    const ofClient = asked.every(({ wait, toolCallId }) => isClientCall(run.id, wait) && toolCallId !== undefined);
    yield* this.#sent(
      this.#events.finish(
        ofClient
          ? { type: 'success', pendingToolCallIds: asked.map(({ toolCallId }) => toolCallId!) }
          : {
              type: 'interrupt',
              interrupts: asked.map(({ wait, toolCallId }) => toInterrupt(run.id, wait, toolCallId)),
            },
      ),
    );
  }
}

const orPause = <T>(next: Promise<T>, ms: number): Promise<T | undefined> => orLate(ms, next, () => undefined);
