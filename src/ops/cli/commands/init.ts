import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { InvalidArgumentError, type Command } from 'commander';
import { closest } from '../../../base/checks/unknown-keys.ts';
import { UsageError } from '../errors.ts';
import { addToProject } from '../existing/add.ts';
import { detectProject, frameworks, packageManagers, type Choices } from '../existing/detect.ts';
import { reportOf } from '../existing/report.ts';
import { commandHelp } from '../help.ts';
import { print } from '../output.ts';
import { projectFileNames, projectFiles } from '../project-files.ts';

interface Options extends Choices {
  existing?: boolean;
}

export const addInit = (program: Command): Command =>
  program
    .command('init')
    .argument('[folder]', 'folder of the project, created if missing', '.')
    .option('--existing', 'add Lanefold to the project in the folder')
    .option('--framework <name>', `with --existing: ${frameworks.join(', ')}`, oneOf(frameworks))
    .option('--package-manager <name>', `with --existing: ${packageManagers.join(', ')}`, oneOf(packageManagers))
    .summary('create a small project that runs, or add Lanefold to one')
    .description(
      'Writes a package.json, an agent with a typed tool, and a README with the commands that run it. The agent needs ' +
        'no API key, no network and no database setup. Existing files are never replaced. The project depends on the package ' +
        'that this command was installed from. Unless the package came from a registry or from a file that ' +
        'still exists, the command packs the package for the project.\n\n' +
        'With --existing, adds Lanefold to a project with a package.json: the dependency, scripts, an agent, a module that ' +
        'connects, and routes for Express, Hono, Fastify or Next.js. Framework and package manager follow from package.json ' +
        'and the lock file. The command says what it did, and what is left to you.',
    )
    .addHelpText(
      'after',
      commandHelp(
        ['lanefold init my-agents', 'cd my-agents && npm install && npm run dev', 'lanefold init --existing'],
        [],
      ),
    )
    .action((folder: string, options: Options) =>
      options.existing ? extend(folder, options) : create(folder, options),
    );

async function create(folder: string, { framework, packageManager }: Options): Promise<void> {
  if (framework ?? packageManager)
    throw new UsageError(
      '--framework and --package-manager describe a project that is there; nothing was written.',
      'Add --existing, or leave them out for a new project.',
    );
  const existing = projectFileNames.filter((name) => existsSync(path.join(folder, name)));
  if (existing.length > 0) {
    throw new UsageError(
      `The folder ${folder} already has ${existing.join(', ')}; nothing was written.`,
      existing.includes('package.json')
        ? 'Choose another folder, or add Lanefold to the project there with --existing.'
        : 'Choose another folder.',
    );
  }
  const files = Object.entries(await projectFiles(folder));
  await mkdir(folder, { recursive: true });
  for (const [name, text] of files) await writeFile(path.join(folder, name), text, { flag: 'wx' });
  for (const [name] of files) print(path.join(folder, name));
  const enter = folder === '.' ? '' : `cd ${folder} && `;
  print(`\nNext: ${enter}npm install && npm run ask -- "Where is order A-17?"`);
}

async function extend(folder: string, options: Options): Promise<void> {
  const project = detectProject(folder, options);
  for (const line of reportOf(project, await addToProject(project))) print(line);
}

/** Parses one of some names. */
function oneOf<const NAMES extends readonly string[]>(names: NAMES): (text: string) => NAMES[number] {
  return (text) => {
    if (names.includes(text)) return text;
    const meant = closest(text, names);
    throw new InvalidArgumentError(meant ? `Did you mean ${meant}?` : `It must be one of ${names.join(', ')}.`);
  };
}
