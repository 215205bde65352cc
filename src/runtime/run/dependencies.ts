import type { AgentRegistry } from '../../agents/registry.ts';
import type { ModelRegistry } from '../../models/registry/registry.ts';
import type { Database } from '../../postgres/pool.ts';
import type { Usage } from '../../context/message.ts';
import type { MachineState, StepDraft } from '../../strategies/machine.ts';
import type { LiveCalls } from '../../streams/live-calls.ts';
import type { Redactor } from '../../redaction/keys.ts';
import type { HeldRun } from './held-run.ts';

/** What driving a run needs of its surroundings. */
export interface WorkerDeps {
  db: Database;
  agents: AgentRegistry;
  models: ModelRegistry;
  /** For everything that is shown of a run: its trace, its job, its errors. */
  redactor: Redactor;
  /** The queue is of this process alone: runs of other queues are left alone. */
  privateQueue?: boolean;
  /**
   * For LISTEN, which wakes workers up on a cancel and tells them of readers; without it they learn of cancels at the
   * next renewal, and streams have no deltas.
   */
  directUrl?: string;
  /** Where answers under way are told to those who read along. */
  live?: LiveCalls;
  /** Events of a run from which on droppable ones are left out of its trace; default 2,000. */
  maxTraceEvents?: number | undefined;
  /** Told when a run has ended in this process; must not throw. */
  onEnd?: (run: HeldRun) => void;
  /** Told after each commit, for progress; must not throw. */
  onStep?: (state: MachineState, step: StepDraft, usage: Usage | undefined) => void;
}
