/** Builds the site of the documentation into .lanefold/site/public: `npm run docs:site`. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { build } from 'vitepress';
import { checkLinks } from './check-links.ts';
import { menusFile, publicFolder, repository } from './folders.ts';
import { menus } from './menus.ts';
import { writePages } from './pages.ts';
import { writeTexts } from './texts.ts';

process.env['NODE_ENV'] = 'production';
writePages();
writeFileSync(menusFile, JSON.stringify(menus()));
await build(path.join(repository, 'docs'));
writeTexts();
checkLinks();
console.log(`The site is in ${path.relative('', publicFolder)}.`);
