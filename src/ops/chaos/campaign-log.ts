import { appendFile, readFile, writeFile } from 'node:fs/promises';
import type { CampaignReport } from './report.ts';
import { parseJson } from '../../base/common/json.ts';

/** The campaigns in a file that has a line of JSON for each; none if there is no such file. */
export async function readCampaigns(file: string): Promise<CampaignReport[]> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
  return campaignsIn(text);
}

/** The last line is empty, or was cut off when its process was killed. */
const campaignsIn = (text: string): CampaignReport[] =>
  text
    .split('\n')
    .slice(0, -1)
    .map((line) => parseJson(line) as CampaignReport);

/** Prepares a file for more campaigns: creates it if it is missing, and removes a last line that was cut off. */
export async function openLog(file: string): Promise<CampaignReport[]> {
  await appendFile(file, '');
  const text = await readFile(file, 'utf8');
  const whole = text.slice(0, text.lastIndexOf('\n') + 1);
  if (whole !== text) await writeFile(file, whole);
  return campaignsIn(whole);
}

export const appendCampaign = (file: string, report: CampaignReport): Promise<void> =>
  appendFile(file, `${JSON.stringify(report)}\n`);
