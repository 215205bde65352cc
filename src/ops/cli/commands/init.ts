import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Command } from 'commander';
import { UsageError } from '../errors.ts';
import { commandHelp } from '../help.ts';
import { print } from '../output.ts';
import { projectFileNames, projectFiles } from '../project-files.ts';

export const addInit = (program: Command): Command =>
  program
    .command('init')
    .argument('[folder]', 'folder of the project, created if missing', '.')
    .summary('create a small project that runs')
    .description(
      'Writes a package.json, an agent with a typed tool, and a README with the commands that run it. The agent needs ' +
        'no API key, no network and no database setup. Existing files are never replaced. The project depends on the package ' +
        'that this command was installed from; a checkout, and a package that came from neither a registry nor a file that ' +
        'still exists, is packed for the project.',
    )
    .addHelpText('after', commandHelp(['lanefold init my-agents', 'cd my-agents && npm install && npm run dev'], []))
    .action(async (folder: string) => {
      const existing = projectFileNames.filter((name) => existsSync(path.join(folder, name)));
      if (existing.length > 0) {
        throw new UsageError(
          `The folder ${folder} already has ${existing.join(', ')}; nothing was written.`,
          'Choose another folder.',
        );
      }
      const files = Object.entries(await projectFiles(folder));
      await mkdir(folder, { recursive: true });
      for (const [name, text] of files) await writeFile(path.join(folder, name), text, { flag: 'wx' });
      for (const [name] of files) print(path.join(folder, name));
      const enter = folder === '.' ? '' : `cd ${folder} && `;
      print(`\nNext: ${enter}npm install && npm run ask -- "Where is order A-17?"`);
    });
