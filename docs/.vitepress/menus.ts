import type { DefaultTheme } from 'vitepress';
import { commandGroups } from '../../test/docs/reference/commands.ts';
import { errorTexts } from '../../test/docs/reference/errors.ts';
import { contents, type Entry } from './contents.ts';
import { placeOf } from './links.ts';

/** What leads through the site: the groups of docs/README.md, and beside a command or an error, all of them. */
export function menus(): Pick<DefaultTheme.Config, 'nav' | 'sidebar'> {
  const groups = contents();
  const commands = commandGroups().map(({ title, commands }) => ({
    text: title,
    items: commands.map(({ name }) => link(name.split(' ')[1]!, 'commands')),
  }));
  const errors = errorTexts.codes.map(({ title, errors }) => ({
    text: title,
    items: Object.keys(errors).map((name) => link(name, 'errors')),
  }));
  return {
    nav: groups.map(({ title, entries }) => ({ text: title, link: linkTo(entries[0]!.page!) })),
    sidebar: {
      '/': groups.map(({ title, entries }) => ({ text: title, items: entries.map(item) })),
      '/reference/commands/': [{ text: 'All commands', link: '/reference/commands' }, ...commands],
      '/reference/errors/': [{ text: 'All errors', link: '/reference/errors' }, ...errors],
    },
  };
}

const link = (name: string, folder: string) => ({ text: name, link: `/reference/${folder}/${name}` });

const linkTo = (page: string): string => `/${placeOf(`docs/${page}`).replace(/(index)?\.md$/, '')}`;

function item({ title, page, entries }: Entry): DefaultTheme.SidebarItem {
  if (page !== undefined) return { text: title, link: linkTo(page) };
  return { text: title, collapsed: true, items: entries.map(item) };
}
