import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';

const nameOf = (at: string): string => at.slice(at.lastIndexOf('node_modules/') + 'node_modules/'.length);

/**
 * Checks that the bill of materials of an installed package has all that npm installed with it and nothing else, except
 * packages for other platforms. Of what dependencies need, npm may have chosen other versions than the lock file.
 *
 * @param folder of a project with nothing but the package
 */
export async function assertBilled(folder: string): Promise<void> {
  const read = async <T>(name: string): Promise<T> => JSON.parse(await readFile(path.join(folder, name), 'utf8')) as T;
  const { packages } = await read<{ packages: Record<string, { version: string }> }>('node_modules/.package-lock.json');
  const installed = Object.entries(packages).map(([at, { version }]) => ({ name: nameOf(at), version }));
  const bill = await read<{ components: { name: string; version: string; scope: string }[] }>(
    'node_modules/lanefold/dist/sbom.cdx.json',
  );
  const { dependencies } = await read<{ dependencies: Record<string, string> }>('node_modules/lanefold/package.json');
  const listed = new Set(bill.components.map(({ name }) => name));
  const found = new Set(installed.map(({ name }) => name));
  const missing = [...found].filter((name) => name !== 'lanefold' && !listed.has(name));
  assert.deepEqual(missing, [], 'the bill of materials lacks packages');
  const absent = bill.components.filter(({ name, scope }) => scope === 'required' && !found.has(name));
  assert.deepEqual(absent, [], 'the bill of materials lists packages that are not installed');
  for (const [name, version] of Object.entries(dependencies))
    assert.ok(
      installed.some((one) => one.name === name && one.version === version) &&
        bill.components.some((one) => one.name === name && one.version === version),
      `${name} is not ${version} everywhere`,
    );
}
