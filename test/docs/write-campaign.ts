/** Writes the table of the published campaigns into the pages that quote it: `npm run docs:campaign`. */
import { readFileSync, writeFileSync } from 'node:fs';
import { campaignTable } from './campaign.ts';

for (const page of ['README.md', 'docs/guarantees.md']) {
  const text = readFileSync(page, 'utf8');
  const table = `<!-- campaign -->\n\n${campaignTable()}\n\n<!-- /campaign -->`;
  writeFileSync(page, text.replace(/<!-- campaign -->[^]*?<!-- \/campaign -->/, table));
}
