import type { AgentRegistry } from '../../agent/definition/registry.ts';
import type { Counting } from '../../agent/models/counting.ts';
import type { ModelRegistry } from '../../agent/models/registry.ts';
import type { Database } from '../../database/postgres/pool.ts';
import type { Needs } from '../../database/store/worker/find-lacking.ts';
import type { Run } from '../../database/store/run/run.ts';
import type { StepDraft } from '../../agent/strategies/machine.ts';
import type { LiveCalls } from '../../runs/streams/publish-deltas.ts';
import type { Redactor } from '../../base/redaction/sensitive-keys.ts';
import type { LimitGate } from '../../runs/limiter/gate.ts';
import type { joined } from '../part.ts';
import type { CallRef } from '../../base/checks/call-name.ts';
import type { HeldRun } from './held-run.ts';

/** The dependencies of everything that executes a run. */
export interface RunDependencies {
  db: Database;
  agents: AgentRegistry;
  models: ModelRegistry;
  /** Context windows and token counters of models, for context policies. */
  counting: Counting;
  /** Whether requests carry cache markers. */
  promptCaching: boolean;
  /** Applied to everything a run shows: its trace, its job, its errors. */
  redactor: Redactor;
  /** The limits of this database. */
  gate: LimitGate;
  /** Does what waits of calls ask for, and tells parents of ends; must not throw. Without it, the next sweep does. */
  waits?: {
    begun(run: HeldRun, call: CallRef): Promise<void>;
    childEnded(run: HeldRun, parentThreadId: string): Promise<void>;
  };
  /** What features do to runs. */
  features?: ReturnType<typeof joined>;
  /**
   * Which of these tools, which this worker lacks, the agent of a run has on a live worker that could execute the run, or had in its
   * earlier version.
   */
  findTools?: (needs: Needs & { tools: readonly string[] }, earlierVersion: string | null) => Promise<string[]>;
  /** Streams answers to live readers while models generate them. */
  live?: LiveCalls;
  /** Length of a run's trace beyond which droppable events are left out; default 2,000. */
  maxTraceEvents?: number | undefined;
  /** Called when this process takes a run; must not throw. */
  onHold?: (run: HeldRun) => void;
  /** Whether this process waits for the run to end. */
  isAwaited?: (run: HeldRun) => boolean;
  /** Called when this process releases a run, usually because it has `ended`; must not throw. May be called twice. */
  onRelease?: (run: HeldRun, ended?: Run) => void;
  /** Called after each commit, for progress; must not throw. */
  onStep?: (step: StepDraft) => void;
}
