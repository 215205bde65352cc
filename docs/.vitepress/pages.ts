import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { errorStatus } from '../../src/base/errors.ts';
import { commandGroups, commandSection, commonOptions, type CommandGroup } from '../../test/docs/reference/commands.ts';
import { errorTexts, textsByCode } from '../../test/docs/reference/errors.ts';
import { code, fill, table } from '../../test/docs/reference/markdown.ts';
import { operationsByError } from '../../test/docs/reference/operations.ts';
import { anchorOf } from './anchors.ts';
import { pagesFolder, repository } from './folders.ts';
import { isAsset, isPage, placeOf, relative, targetOf, withLinks } from './links.ts';

/** Writes the pages that VitePress reads: those of the repository, one for each command, and one for each code of an error. */
export function writePages(): void {
  rmSync(pagesFolder, { recursive: true, force: true });
  const pages = new Map([...repositoryPages(), ...commandPages(), ...errorPages()]);
  for (const [place, text] of pages) write(path.join(pagesFolder, place), text);
  for (const file of filesIn('docs').filter(isAsset))
    cpSync(path.join(repository, file), path.join(pagesFolder, 'public', placeOf(file)));
}

function write(file: string, text: string): void {
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, text);
}

const read = (file: string): string => readFileSync(path.join(repository, file), 'utf8');

const filesIn = (folder: string): string[] =>
  readdirSync(path.join(repository, folder), { recursive: true, encoding: 'utf8' })
    .map((file) => `${folder}/${file}`)
    .filter((file) => !file.includes('/.vitepress/'));

/** The README, the pages of docs, and every page of the repository that these lead to. */
function repositoryPages(): Map<string, string> {
  const found = new Map<string, string>();
  const open = ['README.md', ...filesIn('docs').filter(isPage)];
  for (const page of open) {
    if (found.has(placeOf(page))) continue;
    const text = forSite(page, read(page));
    found.set(placeOf(page), withCommandPages(page, withLinks(text, page)));
    for (const [, link] of text.matchAll(/\]\(([^)\s#]+)/g)) {
      const target = /^\w+:/.test(link!) ? undefined : targetOf(page, link!);
      if (target !== undefined && isPage(target)) open.push(target);
    }
  }
  return found;
}

/** Codes of errors link to their pages. */
function forSite(page: string, text: string): string {
  const toError = (all: string, name: string) => (name in errorStatus ? `[${all}](errors.md)` : all);
  if (page === 'docs/reference/errors.md') return text.replaceAll(/(?<=^\| )`(\w+)`(?= *\| \d)/gm, toError);
  if (page === 'docs/reference/operations.md')
    return text.replaceAll(/^- Errors: .*$/gm, (line) => line.replaceAll(/`(\w+)`/g, toError));
  return text;
}

const pageOf = (command: string): string => `reference/commands/${command.split(' ')[1]}.md`;

/** On the site, the page of commands is a list of the pages of each. */
const withCommandPages = (page: string, text: string): string =>
  page === 'docs/reference/commands.md' ? fill(text, { commands: commandList(commandGroups()) }) : text;

const commandList = (groups: readonly CommandGroup[]): string =>
  groups
    .map(({ title, commands }) => {
      const rows = commands.map(({ name, summary }) => [
        `[${code(name)}](${relative('reference/commands.md', pageOf(name))})`,
        summary,
      ]);
      return `## ${title}\n\n${table(['command', 'what it does'], rows)}`;
    })
    .join('\n\n');

function commandPages(): [string, string][] {
  const groups = commandGroups();
  const common = commonOptions(groups);
  return groups.flatMap(({ commands }) =>
    commands.map((command): [string, string] => {
      const section = commandSection(command, 1, common).replaceAll(
        /^Common options:/gm,
        '[Common options](../commands.md#common-options):',
      );
      return [pageOf(command.name), `${section}\n\n[All commands](../commands.md)\n`];
    }),
  );
}

function errorPages(): [string, string][] {
  const operations = operationsByError();
  return [...textsByCode()].map(([name, text]) => {
    const place = `reference/errors/${name}.md`;
    const callers = (operations.get(name) ?? []).map((title) => `[${code(title)}](operations.md#${anchorOf(title)})`);
    const ofRuns = errorTexts.failed[name];
    const parts = [
      `# ${code(name)}`,
      text.means,
      `HTTP status ${errorStatus[name]}.`,
      `## What to do`,
      text.do,
      ...(callers.length > 0
        ? ['## Operations that answer with this code', callers.map((each) => `- ${each}`).join('\n')]
        : []),
      ...(ofRuns === undefined ? [] : ['## As the error of a run', ofRuns]),
      '[All errors](errors.md)',
    ];
    return [place, withLinks(`${parts.join('\n\n')}\n`, 'docs/reference/errors.md', place)];
  });
}
