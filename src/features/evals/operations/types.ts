import type { OverrideCaller } from '../../../agent/definition/overridable.ts';
import type { OptionsWith } from '../../../agent/definition/options.ts';
import type { Json } from '../../../agent/context/message.ts';
import type { EvalItem, EvalItemStatus } from '../item.ts';
import type { EvalReport, ReportOptions } from '../report/report.ts';
import type { ModelName } from '../../../agent/models/providers.ts';
import type { PolicyOption } from '../../../agent/policy/types.ts';
import type { ListPage } from '../../../database/store/rows.ts';

/** What an export of a dataset has. */
export interface ExportedCases {
  /** Number of lines. */
  cases: number;
  /** Cases that were left out, because their threads were erased. */
  erased: number;
}

/** A line that was not imported. */
export interface SkippedCase {
  /** From 1. */
  line: number;
  /**
   * `exists`: the dataset has a case with these messages for this agent. `repeated`: an earlier line has. `erased`: the
   * dataset had one, and its thread was erased.
   */
  because: 'exists' | 'repeated' | 'erased';
  /** The case that the dataset had before the import, if any. */
  caseId: string | null;
}

/** What an import wrote. */
export interface ImportedCases {
  dataset: string;
  imported: number;
  skipped: SkippedCase[];
}

/** Datasets as files. */
export interface CaseFiles {
  /**
   * The cases of a dataset as JSON Lines, the oldest first: the messages that were sent, their hash, and what the case
   * expects. Returns how many, and how many were left out because their threads were erased.
   *
   * @throws LanefoldError `case_unverified` if this process does not know the output contract of an agent; `invalid_id`
   *
   * @example
   * ```ts
   * import { createLanefold } from 'lanefold';
   *
   * const lanefold = await createLanefold();
   * for await (const line of lanefold.cases.export('refunds')) process.stdout.write(`${line}\n`);
   * ```
   */
  export(dataset: string, options?: { tenant?: string }): AsyncGenerator<string, ExportedCases, void>;
  /**
   * Makes a case of each line of an export: a thread with these messages, and a case of the kind `call`, which asks for the
   * answer to them. The file is checked whole before the first write; a repeated import adds what is missing.
   *
   * @throws LanefoldError `import_refused` for a line that was changed or is malformed, with its number in `details.line`;
   * `invalid_input` without lines; `invalid_id`
   */
  import(
    dataset: string,
    lines: Iterable<string> | AsyncIterable<string>,
    options?: { tenant?: string; by?: string },
  ): Promise<ImportedCases>;
}

/** Changes under which the cases are asked again; whatever is absent is as it is now. */
export interface EvalVariant {
  /** Default: made of the other fields. */
  name?: string;
  /** Default: the agent of the case. */
  agent?: string;
  /** The version of the agent: a label or an id. Default: the first one. */
  version?: string;
  /** Default: the model that the run named, else that of the agent. The strategy is chosen in the same way. */
  model?: ModelName;
  contextPolicy?: PolicyOption;
  /** Replaces the prompt of the lane; null: none. */
  systemPrompt?: string | null;
}

interface By {
  /** Who does it, for the audit; default `operator`. */
  by?: string;
}

/** What tools return in the runs of an eval. */
export type EvalTools = 'recorded' | 'live' | 'stubs';

export interface EvalDefinition extends OptionsWith<{ evals: 'bound' }> {
  dataset: string;
  /** Only cases with this tag, or of this part. */
  tag?: string;
  split?: string;
  /** Default: one, named `current`, that changes nothing. The first one is the baseline of the report. */
  variants?: readonly EvalVariant[];
  /** How often each case is asked under each variant; from 1 (default) to 20. */
  repeats?: number;
  /**
   * `recorded` (default): what they returned in the original run, by name and arguments. `live`: tools with
   * `replay: 'safe'` run, others fail. `stubs`: what `stubs` has for their name.
   */
  tools?: EvalTools;
  stubs?: Readonly<Record<string, Json>>;
  /** How many runs at once; from 1 to 100, default 4. */
  concurrency?: number;
  /**
   * What all its runs together may cost, in US dollars; those of judges do not count. Items that it does not pay are
   * skipped, and so are those of models without a known price. A lower limit of the agent stays.
   */
  maxCost?: number;
  /** Priority of its runs; default 1,000: behind those of users, which have 0. */
  priority?: number;
  /** Ask again also what an earlier eval has asked in the same way; default false. */
  fresh?: boolean;
  /** The agent that scores answers by `expected.rubric`, and its model. */
  judge?: { agent: string; model?: ModelName };
}

/** An eval, and how far it is. */
export interface ListedEval {
  id: string;
  tenant: string;
  dataset: string;
  status: 'running' | 'completed' | 'cancelled';
  /** As it was asked for, with defaults. */
  spec: EvalDefinition;
  createdBy: string;
  createdAt: Date;
  finishedAt: Date | null;
  /** How many items are in each status. */
  items: Record<EvalItemStatus, number>;
  /** What waiting items need but no live worker has: `agent`, or `agent@version`. */
  unattended: string[];
  /** In millionths of a US dollar, as far as prices are known. */
  costMicros: number;
}

/** An item with its runs. */
export interface ListedEvalItem extends EvalItem {
  no: number;
  agent: string;
  threadId: string | null;
  runId: string | null;
  judgeThreadId: string | null;
  judgeRunId: string | null;
  settledAt: Date | null;
}

export interface EvalBy extends By {
  /** The tenant whose cases are asked; default: the tenant of the library, else `default`. */
  tenant?: string;
  /** On whose behalf, which decides what variants may override; default `library`. */
  from?: OverrideCaller;
}

export interface Evals {
  /**
   * Starts an eval: workers ask each case under each variant, on threads that begin as the original one was, and score the
   * answers. The original threads are not changed.
   *
   * @throws LanefoldError `invalid_input`, `details.field` names the field; `dataset_empty`; `unknown_agent`,
   * `unknown_model`, `override_not_allowed`, `invalid_policy`, `unknown_window`
   */
  run(definition: EvalDefinition, options?: EvalBy): Promise<ListedEval>;
  /** @throws LanefoldError `eval_not_found` */
  get(id: string): Promise<ListedEval>;
  /** The newest first. */
  list(query?: { after?: string; limit?: number }): Promise<ListPage<ListedEval>>;
  /** In the order in which they run; with `caseId`, those of one case. @throws LanefoldError `eval_not_found`, `invalid_id` */
  items(id: string, query?: { after?: number; limit?: number; caseId?: string }): Promise<ListedEvalItem[]>;
  /** Compares the variants, also of an eval that is still running. @throws LanefoldError `eval_not_found`, `invalid_input` */
  report(id: string, options?: ReportOptions): Promise<EvalReport>;
  /** Waits for its end. @throws LanefoldError `eval_not_found`, `wait_timeout` */
  wait(id: string, options?: { timeoutMs?: number; signal?: AbortSignal }): Promise<ListedEval>;
  /** Cancels its runs; what has ended stays, and the other items are skipped. @throws LanefoldError `eval_not_found`, `eval_ended` */
  cancel(id: string, options?: By): Promise<ListedEval>;
  /**
   * Scores the answers of an ended eval again, by what cases expect now. An item whose case or thread is gone stays as it is.
   *
   * @throws LanefoldError `eval_not_found`, `eval_running`
   */
  rescore(id: string, options?: By): Promise<ListedEval>;
  /** Removes an ended eval; workers erase the threads of its runs. @throws LanefoldError `eval_not_found`, `eval_running` */
  remove(id: string, options?: By): Promise<void>;
}
