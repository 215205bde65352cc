import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { UsageError } from '../errors.ts';
import { ownSpec } from '../project-files.ts';
import { endOf, newFiles } from './files.ts';
import type { Project } from './detect.ts';

/** What was done to a project: a line each, with what it concerns. */
export type Done = [what: string, done: string][];

/**
 * Adds Lanefold to a project. New files never replace existing ones; package.json and .gitignore only gain lines.
 *
 * @throws UsageError if one of the new files exists; then nothing is written
 */
export async function addToProject(project: Project): Promise<Done> {
  const { folder } = project;
  const files = Object.entries({ ...newFiles(project), ...nextConfig(project) });
  const existing = files.map(([name]) => name).filter((name) => existsSync(path.join(folder, name)));
  if (existing.length > 0)
    throw new UsageError(
      `The project already has ${existing.join(', ')}; nothing was written.`,
      'Lanefold may be there already: see its scripts in package.json. Else rename the file, and try again.',
    );
  const manifest = await extendManifest(project);
  const done: Done = [];
  for (const [name, text] of files) {
    await mkdir(path.join(folder, path.dirname(name)), { recursive: true });
    await writeFile(path.join(folder, name), text, { flag: 'wx' });
    done.push([name, 'new']);
  }
  if (manifest.text !== project.text) await writeFile(path.join(folder, 'package.json'), manifest.text);
  return [...manifest.done, ...done, ...(await ignoreData(folder))];
}

const scriptsOf = (agents: string): Record<string, string> => ({
  'agents:dev': `lanefold dev --agents ${agents}`,
  'agents:worker': `lanefold worker --agents ${agents}`,
  'agents:migrate': 'lanefold migrate',
});

async function extendManifest(project: Project): Promise<{ text: string; done: Done }> {
  const { manifest, folder, text } = project;
  const done: Done = [];
  const installed = { ...manifest.devDependencies, ...manifest.dependencies };
  const dependencies = { ...manifest.dependencies };
  if (installed['lanefold'] === undefined) {
    dependencies['lanefold'] = await ownSpec(folder);
    done.push(['package.json', `added the dependency lanefold ${dependencies['lanefold']}`]);
  } else {
    done.push(['package.json', `has the dependency lanefold ${installed['lanefold']} already`]);
  }
  const scripts = { ...manifest.scripts };
  for (const [name, command] of Object.entries(scriptsOf(`${project.base}agents/agents.${endOf(project)}`))) {
    const before = scripts[name];
    scripts[name] ??= command;
    const told = before === undefined ? 'added' : before === command ? 'has' : `left as it is (${before}):`;
    done.push(['package.json', `${told} the script ${name}: ${command}`]);
  }
  const indent = /^([ \t]+)"/m.exec(text)?.[1] ?? 2;
  const next = { ...manifest, scripts, ...(Object.keys(dependencies).length > 0 ? { dependencies } : {}) };
  const end = /\r?\n$/.exec(text)?.[0] ?? '';
  return { text: JSON.stringify(next, null, indent) + end, done };
}

const configOf = (folder: string): string | undefined =>
  readdirSync(folder).find((name) => /^next\.config\.(js|mjs|cjs|ts|mts)$/.test(name));

/** The line without which Next bundles the package, which then does not find its files. */
export const externalPackages = `serverExternalPackages: ['lanefold']`;

function nextConfig({ folder, framework }: Project): Record<string, string> {
  if (framework !== 'next' || configOf(folder)) return {};
  return { 'next.config.mjs': `export default {\n  ${externalPackages},\n};\n` };
}

/** The configuration of Next that lacks the line, if there is one. */
export function configToChange({ folder, framework }: Project): string | undefined {
  const config = framework === 'next' ? configOf(folder) : undefined;
  if (!config) return undefined;
  const text = readFileSync(path.join(folder, config), 'utf8');
  return /serverExternalPackages[^\]]*['"]lanefold['"]/.test(text) ? undefined : config;
}

async function ignoreData(folder: string): Promise<Done> {
  const file = path.join(folder, '.gitignore');
  const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
  if (/^\/?\.lanefold\/?\s*$/m.test(text)) return [['.gitignore', 'has .lanefold already']];
  const before = text === '' || text.endsWith('\n') ? '' : '\n';
  await writeFile(file, `${before}.lanefold\n`, { flag: 'a' });
  return [['.gitignore', 'added .lanefold, the data of the PostgreSQL for development']];
}
