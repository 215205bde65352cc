import type { JsonObject, Usage } from '../../../agent/context/message.ts';
import { textOrJson } from '../ui-messages/parts.ts';
import type { AgUiEvent } from './event.ts';

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

  /** The segment ends while they go on. */
  *leave(): Generator<AgUiEvent> {
    for (const id of this.#open.keys())
      yield { type: 'SUBAGENT_FINISHED', subagentRunId: id, outcome: { type: 'suspended' } };
    this.#open.clear();
  }
}
