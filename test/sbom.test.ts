import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, expect, test } from 'vitest';

interface Bill {
  components: {
    name: string;
    version: string;
    scope: string;
    purl: string;
    hashes?: unknown[];
    licenses?: unknown[];
  }[];
  dependencies: { ref: string; dependsOn: string[] }[];
}
type Names = Record<string, string>;
const read = <T>(file: string): T => JSON.parse(readFileSync(file, 'utf8')) as T;
const manifest = read<{ name: string; version: string; dependencies: Names; optionalDependencies: Names }>(
  'package.json',
);
let bill: Bill;
let versions: Map<string, string[]>;

beforeAll(() => {
  // nothing answers at this address, so a registry that was asked would be missed
  const env = { ...process.env, npm_config_registry: 'http://127.0.0.1:9', npm_config_fetch_retries: '0' };
  expect(spawnSync('npm', ['run', '--silent', 'sbom'], { env }).status).toBe(0);
  bill = read<Bill>('dist/sbom.cdx.json');
  versions = new Map();
  for (const { name, version } of bill.components) versions.set(name, [...(versions.get(name) ?? []), version]);
});

test('the bill of materials has every direct dependency, in the version that is installed', () => {
  for (const name of Object.keys(manifest.dependencies)) {
    const { version } = read<{ version: string }>(path.join('node_modules', name, 'package.json'));
    expect([name, versions.get(name)]).toEqual([name, expect.arrayContaining([version])]);
  }
  const own = bill.dependencies.find(({ ref }) => ref === `${manifest.name}@${manifest.version}`)!.dependsOn;
  const direct = { ...manifest.dependencies, ...manifest.optionalDependencies };
  expect(own.map((ref) => ref.slice(0, ref.lastIndexOf('@'))).sort()).toEqual(Object.keys(direct).sort());
  const optional = bill.components.filter(({ name }) => name in manifest.optionalDependencies);
  expect(optional.map(({ scope }) => scope)).toEqual(optional.map(() => 'optional'));
});

test('it has all that these need in turn, and none of what only development needs', () => {
  const refs = new Set(bill.components.map(({ name, version }) => `${name}@${version}`));
  expect(refs.size).toBe(bill.components.length);
  for (const { ref, dependsOn } of bill.dependencies)
    expect([ref, dependsOn.filter((one) => !refs.has(one))]).toEqual([ref, []]);
  const reached = new Set<string>();
  const open = [`${manifest.name}@${manifest.version}`];
  for (let ref = open.pop(); ref !== undefined; ref = open.pop()) {
    if (reached.has(ref)) continue;
    reached.add(ref);
    open.push(...bill.dependencies.find((one) => one.ref === ref)!.dependsOn);
  }
  expect(reached.size).toBe(refs.size + 1);
  for (const name of ['vitest', 'eslint', 'typescript']) expect(versions.has(name)).toBe(false);
});

test('each package that is installed for production is in it, with hash and license', () => {
  for (const { name, version } of bill.components) {
    const own = path.join('node_modules', name, 'package.json');
    // a second version is further down
    if (existsSync(own) && versions.get(name)!.length === 1)
      expect([name, read<{ version: string }>(own).version]).toEqual([name, version]);
  }
  expect(bill.components.filter(({ hashes, licenses }) => !hashes || !licenses).map(({ name }) => name)).toEqual([]);
});
