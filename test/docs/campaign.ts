import { readFileSync } from 'node:fs';
import { reportRows, type CampaignReport } from '../../src/chaos/report.ts';

interface Document {
  seed: number;
  lease_ms: number;
  sweep_ms: number;
  workers: number;
  concurrency: number;
  campaigns: CampaignReport[];
}

/** The recorded output of `lanefold chaos --json`, one document per campaign run. */
export const documents = JSON.parse(readFileSync('docs/campaign.json', 'utf8')) as Document[];

/** The campaign table of the pages, one column per campaign. */
export function campaignTable(): string {
  const campaigns = documents.flatMap((document) => document.campaigns);
  const rows = [
    ...reportRows(campaigns),
    ['seed', ...documents.flatMap(({ seed, campaigns: own }) => own.map(() => String(seed)))],
  ];
  const [header, ...body] = rows.map((row) => `| ${row.join(' | ')} |`);
  return [header, `|${' --- |'.repeat(rows[0]!.length)}`, ...body].join('\n');
}

/** A table without Prettier's column padding. */
export const plain = (text: string): string => text.trim().replaceAll(/ +/g, ' ').replaceAll(/-{3,}/g, '---');

export const between = (page: string): string =>
  /<!-- campaign -->\n([^]*?)<!-- \/campaign -->/.exec(readFileSync(page, 'utf8'))?.[1] ?? '';
