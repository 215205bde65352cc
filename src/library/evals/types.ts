import type { Expected } from '../../evals/item.ts';
import type { CaseQuery, Dataset, EvalCase } from '../../store/eval/cases.ts';
import type { ListPage } from '../../store/page.ts';

/** A case to keep: a run, or one of its model calls. */
export interface NewCase {
  threadId: string;
  /** The run whose question is asked again. Either this or `llmCallId`. */
  runId?: string;
  /** The model call whose answer is asked for again: `llm_call_id` in the `refs` of the answer. */
  llmCallId?: string;
  /** The name that cases of one dataset share. */
  dataset: string;
  /** What the answer should be; default: only scorers of your own apply. */
  expected?: Expected;
  tags?: readonly string[];
  /** A part of the dataset, such as `train` or `test`. */
  split?: string;
  note?: string;
}

/** Changes of a case; null takes a value away. */
export interface CaseChanges {
  expected?: Expected | null;
  tags?: readonly string[];
  split?: string | null;
  note?: string | null;
}

export interface CaseBy {
  /** Who does it, for the case and the audit; default `operator`. */
  by?: string;
}

export interface Cases {
  /**
   * Keeps a run that has ended, or a model call, as a case of a dataset. The case refers to the log and copies nothing of it.
   *
   * @throws LanefoldError `case_unverified` if the log does not prove what was sent: a request transformer changed it, say;
   * `case_exists` if the dataset has this source; `invalid_input`, `details.field` names the field; `thread_not_found`,
   * `thread_erased`, `run_not_found`, `call_not_found`, `invalid_id`
   */
  keep(given: NewCase, options?: CaseBy): Promise<EvalCase>;
  /** @throws LanefoldError `case_not_found` */
  get(id: string): Promise<EvalCase>;
  /** The oldest first. */
  list(query?: Partial<CaseQuery>): Promise<ListPage<EvalCase>>;
  /** Changes what is given. @throws LanefoldError `case_not_found`, `case_erased`, `invalid_input` */
  update(id: string, changes: CaseChanges): Promise<EvalCase>;
  /** Removes a case; its thread stays. @throws LanefoldError `case_not_found` */
  remove(id: string, options?: CaseBy): Promise<void>;
  /** The datasets, by tenant and name. */
  datasets(): Promise<Dataset[]>;
}
