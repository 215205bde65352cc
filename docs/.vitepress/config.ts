import { readFileSync } from 'node:fs';
import path from 'node:path';
import { defineConfig, type DefaultTheme } from 'vitepress';
import { menusFile, pagesFolder, publicFolder, repository } from './folders.ts';
import { anchorOf } from './anchors.ts';
import { searchOptions } from './search.ts';

// VitePress reads this file alone: what the sources declare comes from build.ts
const menus = JSON.parse(readFileSync(menusFile, 'utf8')) as Pick<DefaultTheme.Config, 'nav' | 'sidebar'>;

export default defineConfig({
  title: 'Lanefold',
  description: 'LLM agents as durable background jobs on PostgreSQL and BullMQ.',
  srcDir: pagesFolder,
  outDir: publicFolder,
  cacheDir: path.join(repository, 'node_modules/.cache/vitepress'),
  ignoreDeadLinks: false,
  metaChunk: true,
  head: [['link', { rel: 'icon', href: 'data:,' }]],
  markdown: {
    anchor: { slugify: anchorOf },
    config: ({ renderer }) => {
      // braces in texts are no expressions of Vue
      for (const rule of ['text', 'code_inline'] as const) {
        const render = renderer.rules[rule]!;
        renderer.rules[rule] = (...given) => render(...given).replaceAll('{{', '&#123;&#123;');
      }
    },
  },
  transformHead: ({ page }) => [['link', { rel: 'alternate', type: 'text/markdown', href: `/${page}` }]],
  themeConfig: {
    ...menus,
    outline: [2, 3],
    search: { provider: 'local', options: { detailedView: false, miniSearch: { searchOptions } } },
  },
});
