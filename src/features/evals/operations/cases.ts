import { assertId, defaultTenant } from '../../../base/checks/ids.ts';
import { refuseUnknownKeys } from '../../../base/checks/unknown-keys.ts';
import { assertStorable } from '../../../base/checks/values.ts';
import { omitUndefined } from '../../../base/common/json.ts';
import type { JsonObject } from '../../../agent/context/message.ts';
import { isLanefoldError, LanefoldError } from '../../../base/errors.ts';
import { readExpected } from '../cases/read-expected.ts';
import { readLabels } from '../cases/read-labels.ts';
import { listCases, readCase, readDatasets, removeCase, updateCase } from '../store/cases.ts';
import { withQuestions } from '../store/questions.ts';
import { ended, overRuns } from '../../../runs/operations/runs/bulk.ts';
import { otherTenant } from '../../../runs/operations/access/tenant-scope.ts';
import { keep, type KeepDeps } from './keep.ts';
import type { Cases, EvalCase } from '../types.ts';
import type { CaseFiles } from './methods.ts';

export function casesOf(deps: KeepDeps): Cases & CaseFiles {
  const { db } = deps;
  const get = async (id: string): Promise<EvalCase> => {
    assertId(id, 'The case id');
    const found = await readCase(db, id);
    if (!found) throw notFound(id);
    return (await withQuestions(db, [found]))[0]!;
  };
  const tenantOf = (tenant = db.tenant ?? defaultTenant): string => {
    assertId(tenant, 'The tenant id');
    if (db.tenant !== undefined && tenant !== db.tenant) throw otherTenant(tenant, db.tenant);
    return tenant;
  };
  return {
    keep: async (given, { by = 'operator' } = {}) => get(await keep(deps, given, by)),
    async keepMany(filter, dataset, { tags, split, note, by = 'operator', ...options } = {}) {
      assertStorable(filter, 'The filter');
      assertId(dataset, 'The dataset');
      const labels = omitUndefined({ tags, split, note });
      readLabels(labels);
      return overRuns(db, filter, options, {
        concerns: ended,
        async act({ threadId, id: runId }) {
          try {
            return { outcome: 'done', caseId: await keep(deps, { threadId, runId, dataset, ...labels }, by) };
          } catch (error) {
            if (!isLanefoldError(error, 'case_exists')) throw error;
            return { outcome: 'unchanged', caseId: error.details!['case_id'] as string };
          }
        },
      });
    },
    get,
    async list({ dataset, tag, split, threadId, after, limit = 50 } = {}) {
      assertStorable(omitUndefined({ tag, split }), 'The query');
      const page = await listCases(db, { dataset, tag, split, threadId, after, limit });
      return { ...page, data: await withQuestions(db, page.data) };
    },
    async update(id, changes, { by = 'operator' } = {}) {
      assertId(id, 'The case id');
      const { expected } = changes;
      const labels = readLabels(changes);
      if (expected !== null && expected !== undefined) readExpected(expected);
      const p = omitUndefined({ expected, ...labels, by }) as unknown as JsonObject;
      if (await updateCase(db, id, p)) return get(id);
      await get(id);
      throw new LanefoldError('case_erased', `The thread of case ${id} was erased.`, {
        hint: 'Nothing was written. Remove the case.',
      });
    },
    async remove(id, { by = 'operator' } = {}) {
      assertId(id, 'The case id');
      if (!(await removeCase(db, id, by))) throw notFound(id);
    },
    datasets: () => readDatasets(db),
    async *export(dataset, options = {}) {
      refuseUnknownKeys('cases.export', options, { tenant: true });
      const { exportCases } = await import('./export-cases.ts');
      return yield* exportCases(deps, dataset, tenantOf(options.tenant));
    },
    async import(dataset, lines, options = {}) {
      refuseUnknownKeys('cases.import', options, { tenant: true, by: true });
      const { tenant, by = 'operator' } = options;
      const { importCases } = await import('./import-cases.ts');
      return importCases(db, { dataset, tenant: tenantOf(tenant), by }, lines);
    },
  };
}

const notFound = (id: string): LanefoldError =>
  new LanefoldError('case_not_found', `Case ${id} does not exist.`, {
    hint: 'List the cases with `lanefold cases list`.',
  });
