import type { EvalWaitOptions } from './types.ts';
import type { ListedEval } from '../store/types.ts';

/** Evals, awaited. */
export interface EvalEnds {
  /** Waits for the end of an eval. @throws LanefoldError `eval_not_found`, `wait_timeout` */
  wait(evalId: string, options?: EvalWaitOptions): Promise<ListedEval>;
}

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
