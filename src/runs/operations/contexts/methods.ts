import type { OverrideCaller } from '../../../agent/definition/overridable.ts';
import type { ContextRow } from '../../../agent/context/fold.ts';
import type { ModelName } from '../../../agent/models/providers.ts';
import type { PolicyOption } from '../../../agent/policy/types.ts';
import type { DiffRow, OperationReceipt } from '../../../database/store/context/types.ts';
import type { ContextProjection } from './project.ts';
import type {
  DeclaredContexts,
  DiffedContext,
  LaneOptions,
  NewContext,
  OperationOptions,
  PolicyView,
} from './types.ts';

type AsksOfCall =
  { policy: PolicyOption } | { model: ModelName } | { agent: string } | { fullBudget: true } | { explain: true };

/** Operations on contexts: those that are declared, and those whose form is only that of a library. */
export interface Contexts extends DeclaredContexts {
  /**
   * What the next model call on a lane would be sent, what that costs and, with `explain`, why each message is sent or
   * left out. The context is cut by `policy`, or else as the latest run's agent and the thread say; the cut that the
   * last call left in force stays. Any option of `PolicyView` asks for this.
   *
   * @throws LanefoldError `invalid_policy`, `unknown_window`, `invalid_projection`, `unknown_agent`, `thread_not_found`
   */
  project(threadId: string, options: LaneOptions & PolicyView & AsksOfCall): Promise<ContextProjection>;
  /** The uncut context of a lane, now or as of an entry. @throws LanefoldError `thread_not_found` */
  project(threadId: string, options?: LaneOptions): Promise<ContextRow[]>;
  /**
   * Replaces the context of a lane (default: the active one). A system prompt counts as an override.
   *
   * @throws LanefoldError `open_tool_group`, `invalid_operation`, `rev_conflict`, `override_not_allowed`
   */
  replace(
    threadId: string,
    context: NewContext,
    options?: OperationOptions & { contextRef?: string; from?: OverrideCaller },
  ): Promise<OperationReceipt>;
  /** Clears a lane (default: the active one): replaces its context with an empty one, which inherits the prompt. */
  reset(threadId: string, options?: OperationOptions & { contextRef?: string }): Promise<OperationReceipt>;
  /**
   * Makes a lane that exists the active one: shows its branch.
   *
   * @throws LanefoldError `invalid_operation` for a lane that the thread does not have
   */
  show(threadId: string, contextRef: string, options?: OperationOptions): Promise<OperationReceipt>;
  /** Makes a lane the active one, also a new and empty one. */
  switch(threadId: string, contextRef: string, options?: OperationOptions): Promise<OperationReceipt>;
  /**
   * Compares the contexts of two lanes, of the same thread or of different threads. Messages that both begin or end
   * with are `same`; those between are `removed` or `added`.
   *
   * @throws LanefoldError `thread_not_found`, `thread_erased`
   */
  diff(one: DiffedContext, other: DiffedContext): Promise<DiffRow[]>;
}
