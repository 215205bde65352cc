import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const repository = fileURLToPath(new URL('../..', import.meta.url));

const site = path.join(repository, '.lanefold/site');

/** The pages that VitePress reads: those of the repository, with links that work on the site, and the generated ones. */
export const pagesFolder = path.join(site, 'pages');

/** The site: what a web server serves. */
export const publicFolder = path.join(site, 'public');

/** The menus of the site, for its configuration. */
export const menusFile = path.join(site, 'menus.json');
