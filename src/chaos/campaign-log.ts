import { appendFile, readFile } from 'node:fs/promises';
import type { CampaignReport } from './report.ts';

/** The campaigns in a file that has a line of JSON for each; none if there is no such file. */
export async function readCampaigns(file: string): Promise<CampaignReport[]> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
  const lines = text.split('\n');
  // the last line is empty, or was cut off when its process was killed
  return lines.slice(0, -1).map((line) => JSON.parse(line) as CampaignReport);
}

export const appendCampaign = (file: string, report: CampaignReport): Promise<void> =>
  appendFile(file, `${JSON.stringify(report)}\n`);
