import { existsSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { isObject, readJson } from '../../../base/common/json.ts';
import { UsageError } from '../errors.ts';

export const frameworks = ['express', 'hono', 'fastify', 'next', 'none'] as const;
export type Framework = (typeof frameworks)[number];

export const packageManagers = ['npm', 'pnpm', 'yarn', 'bun'] as const;
export type PackageManager = (typeof packageManagers)[number];

const lockFiles: Record<string, PackageManager> = {
  'package-lock.json': 'npm',
  'npm-shrinkwrap.json': 'npm',
  'pnpm-lock.yaml': 'pnpm',
  'yarn.lock': 'yarn',
  'bun.lock': 'bun',
  'bun.lockb': 'bun',
};

export interface Manifest {
  type?: string;
  main?: string;
  packageManager?: string;
  scripts?: Record<string, string>;
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
}

/** A project that is there, as its files describe it. */
export interface Project {
  folder: string;
  /** The text of package.json, whose form an edit keeps. */
  text: string;
  manifest: Manifest;
  framework: Framework;
  packageManager: PackageManager;
  /** Why this package manager: a lock file, or a field of package.json. */
  managedBy: string;
  typescript: boolean;
  /** Whether its `.js` and `.ts` files are ES modules. */
  modules: boolean;
  /** `src/`, or nothing. */
  base: string;
  /** The end of a relative import of one of the new files. */
  importEnd: string;
  /** The file that makes the app of the framework, if one was found. */
  appFile: string | undefined;
}

export interface Choices {
  framework?: Framework;
  packageManager?: PackageManager;
}

/** @throws UsageError without a readable package.json, or if the framework or the package manager is ambiguous */
export function detectProject(folder: string, choices: Choices): Project {
  const { text, manifest } = readManifest(folder);
  const framework = choices.framework ?? frameworkOf(folder, manifest);
  const typescript = existsSync(path.join(folder, 'tsconfig.json'));
  const modules = manifest.type === 'module';
  return {
    folder,
    text,
    manifest,
    framework,
    ...managerOf(folder, manifest, choices.packageManager),
    typescript,
    modules,
    base: baseOf(folder, framework),
    importEnd: typescript ? typedImportEnd(folder, framework, modules) : modules ? '.js' : '.mjs',
    appFile: appFileOf(folder, framework, manifest),
  };
}

function readManifest(folder: string): { text: string; manifest: Manifest } {
  const file = path.join(folder, 'package.json');
  if (!existsSync(file))
    throw new UsageError(
      `${path.resolve(folder)} has no package.json; nothing was written.`,
      'Run the command in the folder of your project, or create a new project with lanefold init FOLDER.',
    );
  const text = readFileSync(file, 'utf8').replace(/^\uFEFF/, '');
  const read = readJson(text);
  const problem = read.ok ? (isObject(read.value) ? undefined : 'it is not an object') : read.problem;
  if (problem !== undefined)
    throw new UsageError(`Cannot read ${file}: ${problem}; nothing was written.`, 'Fix the file and try again.');
  const manifest = (read as { value: Record<string, unknown> }).value;
  for (const field of ['scripts', 'dependencies', 'devDependencies'])
    if (manifest[field] !== undefined && !isObject(manifest[field]))
      throw new UsageError(
        `"${field}" of ${file} is not an object; nothing was written.`,
        'Fix the file and try again.',
      );
  return { text, manifest };
}

function frameworkOf(folder: string, { dependencies, devDependencies }: Manifest): Framework {
  const installed = { ...devDependencies, ...dependencies };
  const found = frameworks.filter((name) => Object.hasOwn(installed, name));
  // Next brings its own server, and what stands beside it serves something else
  if (found.includes('next')) return 'next';
  if (found.length > 1)
    throw new UsageError(
      `${path.join(folder, 'package.json')} has ${found.join(' and ')}; nothing was written.`,
      `Say which one gets the routes, such as --framework ${found[0]}, or --framework none.`,
    );
  return found[0] ?? 'none';
}

function managerOf(folder: string, manifest: Manifest, chosen: PackageManager | undefined) {
  if (chosen) return { packageManager: chosen, managedBy: '--package-manager' };
  const named = packageManagers.find((name) => manifest.packageManager?.split('@')[0] === name);
  if (named) return { packageManager: named, managedBy: 'packageManager in package.json' };
  // a package of a workspace has its lock file further up
  for (let at = path.resolve(folder); ; at = path.dirname(at)) {
    const files = Object.keys(lockFiles).filter((name) => existsSync(path.join(at, name)));
    const found = [...new Set(files.map((name) => lockFiles[name]!))];
    if (found.length > 1)
      throw new UsageError(
        `${at} has lock files of several package managers: ${files.join(', ')}; nothing was written.`,
        `Say which one to use, such as --package-manager ${found[0]}.`,
      );
    if (found[0]) return { packageManager: found[0], managedBy: path.relative(folder, path.join(at, files[0]!)) };
    if (existsSync(path.join(at, '.git')) || path.dirname(at) === at) break;
  }
  return { packageManager: 'npm' as const, managedBy: 'no lock file' };
}

const isFolder = (folder: string, name: string): boolean =>
  statSync(path.join(folder, name), { throwIfNoEntry: false })?.isDirectory() ?? false;

function baseOf(folder: string, framework: Framework): string {
  const marks = framework === 'next' ? ['src/app', 'src/pages'] : ['src'];
  return marks.some((name) => isFolder(folder, name)) ? 'src/' : '';
}

/** TypeScript accepts `.js` for a `.ts` file everywhere, but neither Next nor ts-node in CommonJS does. */
function typedImportEnd(folder: string, framework: Framework, modules: boolean): string {
  if (framework === 'next') return '';
  const tsconfig = readFileSync(path.join(folder, 'tsconfig.json'), 'utf8');
  if (/"(allowImportingTsExtensions|rewriteRelativeImportExtensions)"\s*:\s*true/.test(tsconfig)) return '.ts';
  return modules ? '.js' : '';
}

const makesApp: Partial<Record<Framework, RegExp>> = {
  express: /\bexpress\(\)/,
  hono: /\bnew (Hono|OpenAPIHono)\b/,
  fastify: /\b[fF]astify\(/,
};

function appFileOf(folder: string, framework: Framework, { main }: Manifest): string | undefined {
  const pattern = makesApp[framework];
  if (!pattern) return undefined;
  const names = ['app', 'server', 'index', 'main'].flatMap((name) => [`src/${name}`, name]);
  const files = names.flatMap((name) => ['ts', 'mts', 'js', 'mjs', 'cjs', 'tsx'].map((end) => `${name}.${end}`));
  return [...(typeof main === 'string' ? [path.normalize(main)] : []), ...files].find((name) => {
    const file = path.join(folder, name);
    return statSync(file, { throwIfNoEntry: false })?.isFile() && pattern.test(readFileSync(file, 'utf8'));
  });
}
