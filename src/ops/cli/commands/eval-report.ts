import type { Command } from 'commander';
import { writeFile } from 'node:fs/promises';
import { failIf } from '../../../features/evals/condition/fail-if.ts';
import { parseCondition } from '../../../features/evals/condition/parse.ts';
import { allPages } from '../../../features/evals/operations/all-pages.ts';
import { toJUnit } from '../../../features/evals/report/junit.ts';
import { toMarkdown } from '../../../features/evals/report/markdown.ts';
import type { EvalReport } from '../../../features/evals/report/report.ts';
import { toJson } from '../../../features/evals/report/to-json.ts';
import type { Lanefold } from '../../../lanefold/lanefold.ts';
import { Exit } from '../errors.ts';
import { note, print, printJson } from '../output.ts';

/** What is done with a report. */
export interface ReportFlags {
  json?: boolean;
  failIf?: string;
  junit?: string;
  markdown?: string;
}

export const withReport = (command: Command): Command =>
  command
    .option('--fail-if <condition>', "exit with 1 if the report meets it, such as 'pass_rate < 0.9'", condition)
    .option('--junit <file>', 'also write the report as JUnit XML')
    .option('--markdown <file>', 'also write the report as Markdown');

/** Refuses a condition that makes no sense before anything is asked. */
const condition = (text: string): string => (parseCondition(text), text);

/** Prints a report, writes it to files, and fails on a condition. */
export async function tellReport(
  { evals }: Lanefold,
  id: string,
  found: EvalReport,
  flags: ReportFlags,
): Promise<void> {
  const { json, failIf: given, junit, markdown } = flags;
  if (json) printJson(toJson(found));
  else print(toMarkdown(found));
  if (markdown !== undefined) await writeFile(markdown, toMarkdown(found));
  if (junit !== undefined) await writeFile(junit, toJUnit(await allPages((page) => evals.items(id, page))));
  if (given === undefined) return;
  const { failed, reasons } = failIf(given, found);
  for (const reason of reasons) note(reason);
  if (failed) throw new Exit(1);
}
