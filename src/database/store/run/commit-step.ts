import type { LargeContent } from '../../../agent/context/large-content.ts';
import type { JsonObject, Usage } from '../../../agent/context/message.ts';
import type { Database } from '../../postgres/pool.ts';
import type { EntryDraft, StrategyState, StepDraft } from '../../../agent/strategies/machine.ts';
import { callFunction } from '../call-function.ts';
import { packEvents } from '../trace/pack-events.ts';
import { toRun, type RunRow } from './read-run.ts';
import type { Run } from './run.ts';
import type { QueuedRun } from './queued-run.ts';
import { toNodes } from './read-nodes.ts';
import type { HeldLease } from './renew-leases.ts';

export interface CommitResult {
  step: number;
  status: string;
  /** `seq` of the step's first entry. */
  seq?: number;
  /** The step was committed before: its acknowledgement was lost. */
  duplicate?: boolean;
  finished?: boolean;
  /** Input was queued: instead of finishing or sealing, the run continued as the step's `continue` says. */
  continued?: boolean;
  cancel_requested?: boolean;
  /** Input that the commit drained; it is now part of the context. */
  inputs?: { seq: number; role: 'user'; content: string; refs?: JsonObject }[];
  /** If the step gave the run to another agent: the job it needs. */
  job?: QueuedRun;
  /** The run that became the thread's active one and needs a job. */
  promoted?: QueuedRun;
  /** The ended run, if the step that ended it was `awaited`, and ran in a batch or on the node of its thread. */
  run?: Run;
}

export interface CommitOptions {
  /** The step only resumes the run. That is no progress: a model call that crashes its worker must not look like it. */
  resumed?: boolean;
  maxTraceEvents?: number | undefined;
  /** Large texts of its entries. */
  contents?: readonly LargeContent[];
  /** Number of messages in the context after this step. */
  messages?: number;
  /** A caller in this process waits for the run to end. */
  awaited?: boolean;
  /** The part of the usage spent on models other than the run's, by model. */
  otherUsage?: Record<string, Usage> | undefined;
  /** Gives the run to another agent; see `commit_step`. */
  handoff?: JsonObject | undefined;
}

type CommitAnswer = Omit<CommitResult, 'run'> & { run?: RunRow['run'] };

/** Commits one step in one round trip. Committing it again returns the stored result, so a retry is always safe. */
export async function commitStep(
  db: Database,
  run: HeldLease,
  state: StrategyState,
  draft: StepDraft,
  usage?: Usage,
  {
    resumed = false,
    maxTraceEvents,
    messages,
    contents = [],
    awaited = false,
    otherUsage,
    handoff,
  }: CommitOptions = {},
): Promise<CommitResult> {
  const ends = awaited && draft.finish !== undefined;
  const body = {
    entries: draft.entries?.map(toEntry),
    contents: contents.length > 0 ? contents : undefined,
    lanes: lanesOf(draft.entries),
    nodes: toNodes(draft.nodes),
    events: packEvents(run.runId, draft.events, messages),
    then_events: packEvents(run.runId, draft.thenEvents, messages),
    state,
    iteration: state.iteration,
    usage,
    other_usage: otherUsage,
    calls: draft.calls,
    calls_at: draft.callsAt,
    round: draft.calls || draft.outcomes ? state.round : undefined,
    outcomes: draft.outcomes,
    // the step that ends a round may start the next one
    outcomes_round: draft.calls && draft.outcomes ? state.round - 1 : undefined,
    results_at: draft.outcomes ? 0 : undefined,
    effects: draft.effects,
    compact: draft.compact,
    drain: draft.drain,
    finish: draft.finish?.events
      ? { ...draft.finish, events: packEvents(run.runId, draft.finish.events) }
      : draft.finish,
    seal: draft.seal,
    continue: draft.continue && {
      ...draft.continue,
      events: packEvents(run.runId, draft.continue.events, messages),
      iteration: draft.continue.state.iteration,
    },
    handoff,
    resumed: resumed || undefined,
    max_events: maxTraceEvents,
    awaited: (ends && db.settings.distributed) || undefined,
  };
  const { threadId, runId, lease, step, leaseMs } = run;
  const { run: ended, ...result } = await callFunction<CommitAnswer>(
    db,
    'commit_step',
    { threadId, runId, lease, step, leaseMs, p: body },
    ends ? run.runId : undefined,
  );
  return { ...result, ...(ended && result.finished ? { run: toRun({ run: ended }) } : {}) };
}

const toEntry = ({ contextRef, ...entry }: EntryDraft) =>
  contextRef === undefined ? entry : { ...entry, context_ref: contextRef };

/** The lanes that the entries may open. */
function lanesOf(entries: EntryDraft[] = []): string[] | undefined {
  const lanes = [...new Set(entries.flatMap(({ contextRef }) => contextRef ?? []))];
  return lanes.length > 0 ? lanes : undefined;
}
