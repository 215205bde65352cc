import type { RunEvent } from '../../../database/store/trace/types.ts';
import { callName } from '../../../base/checks/call-name.ts';
import { isCut } from '../../../agent/context/fold.ts';
import type { Json, JsonObject, ToolCall } from '../../../agent/context/message.ts';
import type { StreamItem } from '../../streams/stream.ts';
import { textOrJson } from '../ui-messages/message.ts';
import type { AgUiEvent, AgUiOutcome } from './event.ts';
import type { Usage } from '../../../agent/context/message.ts';
import { messageIdOf, UsageByModel } from './event.ts';
import { answerText, thinkingOf } from './history.ts';
import { NodeActivities, type FoundNode } from './nodes.ts';
import { OpenMessages, type Retraction } from './open-messages.ts';
import { ToolRound } from './tool-round.ts';

/** A call of the current round that waits for something a client can give. */
export interface AnswerableWait {
  kind: 'approval' | 'event';
  toolCallId: string | undefined;
}

/** What an event is about, where the stream does not say it. */
export interface EventFacts {
  node?: FoundNode | undefined;
  /** The id that a client gave a result. */
  resultId?: string | undefined;
  /** All nodes, at the end of the run: strategies score some of them later. */
  nodes?: readonly (readonly [node: number, found: FoundNode])[];
  subAgent?: EndedSubAgent | undefined;
  /** An answer that no event names, before the end of the run: the strategy wrote it. */
  answer?: { seq: number; payload: JsonObject } | undefined;
}

/** The protocol's events of one run, or the request to take back what was sent of an answer. */
export type Mapped = AgUiEvent | Retraction;

/**
 * Converts the stream of a run, with its entries, to the events of one AG-UI run. Everything it opens it closes before
 * `RUN_FINISHED`.
 */
export class RunEvents {
  over = false;
  /** The last entry of the conversation that was passed on; -1 before the question. */
  lastSeq = -1;
  readonly waits = new Map<string, AnswerableWait>();
  readonly nodes: NodeActivities;
  readonly #names: { threadId: string; runId: string };
  readonly #metadata: { lanefold: JsonObject };
  readonly #usage = new UsageByModel();
  readonly #subAgents = new SubAgents();
  readonly #open = new OpenMessages();
  #step: string | undefined;
  /** Whether the last answer of the model was cut. */
  #cut = false;
  readonly round = new ToolRound();
  /** Model calls that have begun and not ended. */
  readonly unfinished = new Set<string>();

  /** @param names the thread and the AG-UI run that a client knows */
  constructor(names: { threadId: string; runId: string }, runId: string) {
    this.#names = names;
    this.#metadata = { lanefold: { run_id: runId } };
    this.nodes = new NodeActivities(runId);
  }

  *add(item: StreamItem, facts: EventFacts = {}): Generator<Mapped> {
    if (item.type === 'unattended') {
      const { reason, message } = item;
      yield { type: 'CUSTOM', name: 'lanefold.unattended', value: { reason, message } };
    } else if (item.type === 'event') {
      yield* this.#event(item.event, item.entry ?? {}, facts);
    } else {
      if ('thinking' in item) yield* this.#open.write('reasoning', item.llmCallId, item.thinking);
      if ('text' in item) yield* this.#open.write('text', item.llmCallId, item.text);
    }
  }

  /** Takes in an event from before a client joined. @param calls how many tool calls its message makes */
  pass(event: RunEvent, calls: number, facts: EventFacts): void {
    const asked = Array.from({ length: calls }, () => ({ name: '', arguments: {} }));
    const entry: JsonObject = calls > 0 ? { tool_calls: asked } : {};
    for (const mapped of this.#event(event, entry, facts)) void mapped;
    // tokens count for the segment in which they were spent, and an answer to a wait begins another one
    const { kind, data } = event;
    if (kind === 'approval_decided' || (kind === 'wait_ended' && data['kind'] === 'event')) this.forgetUsage();
  }

  forgetUsage(): void {
    this.#usage.clear();
  }

  /** What is open now, for a client that joins. */
  *announce(): Generator<AgUiEvent> {
    if (this.#step !== undefined) yield { type: 'STEP_STARTED', stepName: this.#step };
    yield* this.nodes.announce();
    yield* this.#subAgents.announce();
  }

  /** Ends the AG-UI run; the run itself may continue. */
  *finish(outcome: AgUiOutcome, more: { result?: Json; reason?: string; truncated?: boolean } = {}): Generator<Mapped> {
    yield* this.#close();
    const { result, reason, truncated = this.#cut } = more;
    const facts = { termination_reason: reason, ...(truncated ? { truncated } : {}) };
    yield {
      type: 'RUN_FINISHED',
      ...this.#names,
      outcome,
      ...(result === undefined || result === null ? {} : { result }),
      ...this.#usage.list(),
      metadata: reason === undefined ? this.#metadata : this.#about(facts as JsonObject),
    };
    this.over = true;
  }

  /** Ends the AG-UI run with an error. */
  *fail(code: string, message: string): Generator<Mapped> {
    yield* this.#close();
    yield { type: 'RUN_ERROR', message, code, ...this.#usage.list(), metadata: this.#metadata };
    this.over = true;
  }

  *#event({ kind, iteration, data }: RunEvent, entry: JsonObject, facts: EventFacts): Generator<Mapped> {
    switch (kind) {
      case 'llm_started':
        if (data['node'] !== undefined) yield* this.nodes.asked(data);
        else yield* this.#startStep(`turn ${iteration}`, textOrJson(data['call_id'] ?? ''));
        break;
      case 'llm_retry':
      case 'llm_lost':
        this.unfinished.clear();
        yield* this.#open.takeBack(this.lastSeq);
        break;
      case 'llm_completed':
        this.#usage.add(data['model'], data['usage']);
        this.#cut = isCut(data['finish_reason']);
        if (data['node'] !== undefined) yield* this.nodes.answered(data, facts.node);
        else yield* this.#answer(messageIdOf(data['call_id'], data['seq']), entry);
        break;
      case 'tool_completed':
        // a strategy's own calls are not part of the conversation
        if (!this.round.open) break;
        yield* this.round.next(entry['content'] ?? '', facts.resultId);
        if (!this.round.open) yield* this.#endStep();
        break;
      case 'approval_requested':
        this.#wait('approval', data);
        break;
      case 'wait_started':
        if (data['kind'] === 'event') this.#wait('event', data);
        yield* this.#subAgents.start(callName(data), data, this.round.parentOf(Number(data['index'])));
        break;
      case 'approval_decided':
        this.waits.delete(callName(data));
        break;
      case 'wait_ended':
        this.waits.delete(callName(data));
        for (const { model, usage } of facts.subAgent?.spent ?? []) this.#usage.add(model, usage as Json);
        yield* this.#subAgents.end(callName(data), data['status'], facts.subAgent);
        break;
      case 'input_injected':
        yield* this.#injected(textOrJson(data['input_id'] ?? data['seq'] ?? ''), entry['content'] ?? '', data['seq']);
        break;
      case 'compaction_completed':
        this.#usage.add(data['model'], data['usage']);
        break;
      case 'handed_over':
      case 'run_delayed':
        yield { type: 'CUSTOM', name: `lanefold.${kind}`, value: data };
        break;
      case 'request_completed':
      case 'request_failed':
      case 'request_cancelled':
        yield* this.#end(kind, data, facts);
        break;
    }
    // entries that strategies write outside the conversation have no place in it
    if (typeof data['seq'] === 'number' && data['node'] === undefined) this.lastSeq = data['seq'];
  }

  *#end(kind: RunEvent['kind'], data: JsonObject, { nodes = [], answer }: EventFacts): Generator<Mapped> {
    for (const [node, found] of nodes) yield* this.nodes.changed(node, found);
    if (answer) yield* this.#answer(messageIdOf(undefined, answer.seq), answer.payload);
    // what no event has completed by now is not in the log
    if (kind !== 'request_completed') yield* this.#open.takeBack(this.lastSeq);
    if (kind === 'request_failed') {
      const { type, message } = Object(data['error']) as JsonObject;
      yield* this.fail(textOrJson(type ?? data['error_type'] ?? 'error'), textOrJson(message ?? 'The run failed.'));
      return;
    }
    const reason = textOrJson(data['termination_reason'] ?? data['reason'] ?? 'cancelled');
    if (kind === 'request_cancelled') yield* this.finish({ type: 'cancelled' }, { reason, truncated: false });
    else yield* this.finish({ type: 'success' }, { result: data['result'] ?? null, reason });
  }

  *#answer(id: string, entry: JsonObject): Generator<Mapped> {
    this.unfinished.delete(id);
    yield* this.#open.complete(id, { text: answerText(entry), thinking: thinkingOf(entry) }, this.lastSeq);
    yield* this.round.begin(id, (entry['tool_calls'] ?? []) as unknown as ToolCall[]);
    if (!this.round.open) yield* this.#endStep();
  }

  *#injected(messageId: string, content: Json, seq: Json | undefined): Generator<Mapped> {
    if (typeof content !== 'string') {
      // the protocol streams text only
      yield { type: 'RETRACT', lastSeq: Number(seq), reasoning: [] };
      return;
    }
    yield { type: 'TEXT_MESSAGE_START', messageId, role: 'user' };
    yield { type: 'TEXT_MESSAGE_CONTENT', messageId, delta: content };
    yield { type: 'TEXT_MESSAGE_END', messageId };
  }

  #wait(kind: AnswerableWait['kind'], data: JsonObject): void {
    this.waits.set(callName(data), { kind, toolCallId: this.round.toolCallId(Number(data['index'])) });
  }

  *#startStep(stepName: string, callId: string): Generator<AgUiEvent> {
    this.unfinished.add(callId);
    if (this.#step === stepName) return;
    yield* this.#endStep();
    this.#step = stepName;
    yield { type: 'STEP_STARTED', stepName };
  }

  *#endStep(): Generator<AgUiEvent> {
    if (this.#step !== undefined) yield { type: 'STEP_FINISHED', stepName: this.#step };
    this.#step = undefined;
  }

  *#close(): Generator<Mapped> {
    yield* this.#open.end();
    yield* this.#endStep();
    yield* this.#subAgents.leave();
  }

  #about = (facts: JsonObject) => ({ lanefold: { ...this.#metadata.lanefold, ...facts } });
}

/** How the run of a sub-agent ended, and what it and the runs that it started have used. */
export interface EndedSubAgent {
  status: string;
  error: { type: string; message: string } | null;
  spent: { model: string; usage: Usage | null }[];
}

type Started = Extract<AgUiEvent, { type: 'SUBAGENT_STARTED' }>;

/** The runs that tool calls of a run have started: each is announced once in a segment, and closed before its end. */
export class SubAgents {
  /** By the id of their run. */
  readonly #open = new Map<string, Started>();
  readonly #names = new Map<string, string>();
  /** The run that a call waits for, by the place of the call. */
  readonly #awaited = new Map<string, string>();

  *start(place: string, { child, kind }: JsonObject, from: Partial<Started>): Generator<AgUiEvent> {
    const { run_id: id, agent } = Object(child) as JsonObject;
    if (typeof id !== 'string') return;
    if (kind === 'run') this.#awaited.set(place, id);
    if (typeof agent === 'string') this.#names.set(id, agent);
    if (this.#open.has(id)) return;
    const started: Started = { ...from, type: 'SUBAGENT_STARTED', subagentRunId: id, name: this.#names.get(id) ?? id };
    this.#open.set(id, started);
    yield started;
  }

  *end(place: string, status: unknown, run: EndedSubAgent | undefined): Generator<AgUiEvent> {
    const id = this.#awaited.get(place);
    if (id === undefined || !this.#open.delete(id)) return;
    if (status === 'resolved' && (run === undefined || run.status === 'completed')) {
      yield { type: 'SUBAGENT_FINISHED', subagentRunId: id, outcome: { type: 'success' } };
      return;
    }
    const { type: code, message } = run?.error ?? {
      type: textOrJson(String(status)),
      message: 'The wait for it ended.',
    };
    yield { type: 'SUBAGENT_ERROR', subagentRunId: id, message, code };
  }

  /** Those that are still working, for a client that joins. */
  *announce(): Generator<AgUiEvent> {
    yield* this.#open.values();
  }

  /** The segment ends while they continue. */
  *leave(): Generator<AgUiEvent> {
    for (const id of this.#open.keys())
      yield { type: 'SUBAGENT_FINISHED', subagentRunId: id, outcome: { type: 'suspended' } };
    this.#open.clear();
  }
}
