import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { openLog } from '../../chaos/campaign-log.ts';
import { scaled } from '../../chaos/intervals.ts';
import type { PlannedCampaign } from '../../chaos/plan-campaigns.ts';
import type { HistoryFile } from '../../chaos/recording/conclude.ts';
import type { CampaignReport } from '../../chaos/report.ts';
import { UsageError } from '../errors.ts';

/** The campaigns of a log, which later ones are added to. */
export async function readLog(file: string): Promise<CampaignReport[]> {
  try {
    return await openLog(file);
  } catch (error) {
    throw new UsageError(
      `Could not use ${file} as a log of campaigns (${(error as Error).message}).`,
      'Pass a file that --log has written, or a new one in an existing folder.',
    );
  }
}

interface SameOptions {
  workers: number;
  concurrency: number;
  scale: number;
}

/** A campaign that the log has must be the one that is asked for. */
export function assertSame(options: SameOptions, plan: PlannedCampaign, known: CampaignReport | undefined): void {
  if (!known) return;
  const wanted = {
    workers: options.workers,
    concurrency: options.concurrency,
    lease_ms: scaled(options.scale).leaseMs,
  };
  const other = Object.entries(wanted).find(([key, value]) => known[key as keyof typeof wanted] !== value);
  if (!other && known.scenarios === plan.scenarios) return;
  const [key, value] = other ?? ['scenarios', plan.scenarios];
  throw new UsageError(
    `The log has another campaign with seed ${plan.seed}: ${key} is ${known[key as 'scenarios']} there, and ${value} here.`,
    'Pass the options of that campaign, another --seed, or another --log.',
  );
}

/**
 * The file of a campaign; of several, each has its queue and seed in the name. Finds out before they start if it can be
 * written.
 */
export async function historyFile(
  { history, historyFormat: format }: { history?: string; historyFormat: HistoryFile['format'] },
  plan: { queue: string; seed: number } | false,
): Promise<HistoryFile | undefined> {
  if (!history) return undefined;
  const { dir, name, ext } = path.parse(history);
  const file = plan ? path.join(dir, `${name}-${plan.queue}-${plan.seed}${ext}`) : history;
  await writeFile(file, '').catch((error: unknown) => {
    throw new UsageError(
      `Could not write ${file} (${(error as Error).message}).`,
      'Pass a file in an existing folder.',
    );
  });
  return { file, format };
}
