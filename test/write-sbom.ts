// Part of the build: writes dist/sbom.cdx.json, the bill of materials of a production install, without the network.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

interface Locked {
  version: string;
  license?: string;
  integrity?: string;
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
  peerDependenciesMeta?: Record<string, { optional?: boolean }>;
}
interface Manifest extends Locked {
  name: string;
}
type Packages = Record<string, Locked>;

const read = <T>(file: string): T => JSON.parse(readFileSync(file, 'utf8')) as T;

/**
 * What `npm install lanefold` installs, in the form of CycloneDX and in the versions of the lock file. `npm sbom --omit=dev`
 * leaves out what a development dependency or a peer needs as well, so this follows the dependencies from the package itself,
 * as Node resolves them. The lock file says what there is; what is installed has to be the same. Optional peers, also those of
 * dependencies, are left to who installs them; `npm ci --omit=dev` in a checkout adds those that development needs.
 *
 * @param root the folder of the package
 */
export function billOfMaterials(root: string) {
  const manifest = read<Manifest>(path.join(root, 'package.json'));
  const { packages } = read<{ packages: Packages }>(path.join(root, 'package-lock.json'));
  const found = new Map<string, { required: boolean; needs: string[] }>();
  const open: { at: string; required: boolean }[] = [{ at: '', required: true }];
  for (let next = open.pop(); next; next = open.pop()) {
    const before = found.get(next.at);
    if (before && (before.required || !next.required)) continue;
    const { needs, optional } = needsOf(packages, next.at, next.at === '' ? manifest : packages[next.at]!);
    if (next.at !== '') assertInstalled(root, next.at, packages[next.at]!, next.required);
    found.set(next.at, { required: next.required, needs: [...needs, ...optional] });
    const { required } = next;
    open.push(...needs.map((at) => ({ at, required })), ...optional.map((at) => ({ at, required: false })));
  }
  const refOf = (at: string) =>
    at === '' ? refOfPackage(manifest.name, manifest) : refOfPackage(nameOf(at), packages[at]!);
  const listed = [...found].filter(([at]) => at !== '').sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.5.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    version: 1,
    metadata: { component: { type: 'application', ...componentOf(manifest.name, manifest) } },
    // a package that is installed in two places is one component
    components: unique(
      listed.map(([at, { required }]) => ({
        type: 'library',
        ...componentOf(nameOf(at), packages[at]!),
        scope: required ? 'required' : 'optional',
      })),
      (component) => component['bom-ref'],
    ),
    dependencies: unique(
      [...found].map(([at, { needs }]) => ({ ref: refOf(at), dependsOn: [...new Set(needs.map(refOf))].sort() })),
      ({ ref }) => ref,
    ),
  };
}

const nameOf = (at: string): string => at.slice(at.lastIndexOf('node_modules/') + 'node_modules/'.length);
const refOfPackage = (name: string, { version }: Locked): string => `${name}@${version}`;

function componentOf(name: string, one: Locked) {
  const hash = one.integrity?.startsWith('sha512-') && Buffer.from(one.integrity.slice(7), 'base64').toString('hex');
  return {
    'bom-ref': refOfPackage(name, one),
    name,
    version: one.version,
    purl: `pkg:npm/${name.replace('@', '%40')}@${one.version}`,
    ...(hash ? { hashes: [{ alg: 'SHA-512', content: hash }] } : {}),
    ...(one.license === undefined ? {} : { licenses: [{ expression: one.license }] }),
  };
}

/** Where the dependencies of a package are; of optional ones, those that the lock file has. */
function needsOf(packages: Packages, at: string, one: Locked): { needs: string[]; optional: string[] } {
  const optional = Object.keys(one.optionalDependencies ?? {});
  const peers = Object.keys(one.peerDependencies ?? {}).filter((name) => !one.peerDependenciesMeta?.[name]?.optional);
  const names = [...Object.keys(one.dependencies ?? {}), ...peers].filter((name) => !optional.includes(name));
  return {
    needs: names.map((name) => {
      const found = resolve(packages, at, name);
      if (found === undefined) throw new Error(`${at || 'The package'} needs ${name}, which package-lock.json lacks.`);
      return found;
    }),
    optional: optional.flatMap((name) => resolve(packages, at, name) ?? []),
  };
}

/** As Node resolves it: in the folder of the package that asks, then in those above. */
function resolve(packages: Packages, from: string, name: string): string | undefined {
  for (let at = from; ; at = at.slice(0, Math.max(0, at.lastIndexOf('/node_modules/')))) {
    const found = `${at === '' ? '' : `${at}/`}node_modules/${name}`;
    if (packages[found]) return found;
    if (at === '') return undefined;
  }
}

function assertInstalled(root: string, at: string, { version }: Locked, required: boolean): void {
  const file = path.join(root, at, 'package.json');
  // packages for other platforms are not installed here
  if (!required && !existsSync(file)) return;
  const installed = read<Manifest>(file).version;
  if (installed !== version) throw new Error(`${at} has version ${installed}, not ${version}. Run npm ci first.`);
}

function unique<T>(all: readonly T[], keyOf: (one: T) => string): T[] {
  const found = new Map<string, T>();
  for (const one of all) if (!found.has(keyOf(one))) found.set(keyOf(one), one);
  return [...found.values()];
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  mkdirSync('dist', { recursive: true });
  writeFileSync('dist/sbom.cdx.json', `${JSON.stringify(billOfMaterials(process.cwd()), null, 2)}\n`);
}
