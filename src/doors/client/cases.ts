import type { Connection } from './connection.ts';
import type { BulkReceipt, Case, CaseChanges, Dataset, KeepRuns, ListCasesQuery, NewCase } from './operations.ts';
import type { CallOptions, Page } from './types.ts';

/** Runs and model calls that evals ask again. */
export interface ClientCases {
  /**
   * Keeps an ended run, or one of its model calls, as a case of a dataset. The case refers to the log and copies nothing of it.
   *
   * @throws LanefoldClientError `case_exists`, `case_unverified`, `run_not_found`, `call_not_found`, `thread_not_found`
   */
  keep(given: NewCase, call?: CallOptions): Promise<Case>;
  /**
   * Keeps the ended runs that a filter selects. First with `dryRun: true`: it counts them; then with the `createdBefore` that
   * it returned. A run that the dataset has already stays as it is, and one that is refused stops no other.
   */
  keepMany(
    filter: KeepRuns['filter'],
    dataset: string,
    options?: Omit<KeepRuns, 'filter' | 'dataset'>,
    call?: CallOptions,
  ): Promise<BulkReceipt>;
  /** The oldest first. */
  list(query?: ListCasesQuery, call?: CallOptions): Promise<Page<Case>>;
  /** @throws LanefoldClientError `case_not_found` */
  get(id: string, call?: CallOptions): Promise<Case>;
  /**
   * Changes what a case expects, and its labels. Fields that are left out stay as they are; null removes a value.
   *
   * @throws LanefoldClientError `case_not_found`, `case_erased`
   */
  update(id: string, changes: CaseChanges, call?: CallOptions): Promise<Case>;
  /** Removes a case; its thread stays. @throws LanefoldClientError `case_not_found` */
  remove(id: string, call?: CallOptions): Promise<void>;
  /** The names that cases share, with the number of their cases. */
  datasets(call?: CallOptions): Promise<Dataset[]>;
}

export function casesOf(connection: Connection): ClientCases {
  const at = (caseId: string) => ({ caseId });
  return {
    // a case that an attempt whose answer was lost has kept would be refused as `case_exists`
    keep: (given, { signal } = {}) => connection.call('keepCase', { body: given, signal, once: true }),
    keepMany: (filter, dataset, options = {}, { signal } = {}) =>
      connection.call('keepRuns', { body: { ...options, filter, dataset }, signal }),
    list: (query = {}, { signal } = {}) => connection.call('listCases', { query, signal }),
    get: (id, { signal } = {}) => connection.call('getCase', { params: at(id), signal }),
    update: (id, changes, { signal } = {}) => connection.call('updateCase', { params: at(id), body: changes, signal }),
    // a case that an attempt whose answer was lost has removed would not be found
    remove: (id, { signal } = {}) => connection.call('removeCase', { params: at(id), signal, once: true }),
    datasets: async ({ signal } = {}) => (await connection.call('listDatasets', { signal })).data,
  };
}
