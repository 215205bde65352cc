import { readFileSync } from 'node:fs';
import { readCampaigns, campaignRows } from '../../src/ops/chaos/table.ts';

/** The published campaigns, as `lanefold chaos --log` wrote them. */
export const campaigns = await readCampaigns('docs/reference/campaigns.jsonl');

/** The campaign table of the pages, one column for each queue. */
export function campaignTable(): string {
  const [header, ...body] = campaignRows(campaigns).map((row) => `| ${row.join(' | ')} |`);
  return [header, `|${' --- |'.repeat(campaignRows(campaigns)[0]!.length)}`, ...body].join('\n');
}

/** A table without Prettier's column padding. */
export const plain = (text: string): string => text.trim().replaceAll(/ +/g, ' ').replaceAll(/-{3,}/g, '---');

export const between = (page: string): string =>
  /<!-- campaign -->\n([^]*?)<!-- \/campaign -->/.exec(readFileSync(page, 'utf8'))?.[1] ?? '';
