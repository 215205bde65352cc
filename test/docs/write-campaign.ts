/** Writes the table of the published campaigns into the guarantees: `npm run docs:campaign`. */
import { readFileSync, writeFileSync } from 'node:fs';
import { campaignTable } from './campaign.ts';

const page = 'docs/run/guarantees.md';
const table = `<!-- campaign -->\n\n${campaignTable()}\n\n<!-- /campaign -->`;
const text = readFileSync(page, 'utf8');
writeFileSync(page, text.replace(/<!-- campaign -->[^]*?<!-- \/campaign -->/, table));
