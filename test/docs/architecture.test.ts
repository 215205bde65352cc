import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

const page = readFileSync('ARCHITECTURE.md', 'utf8');
const named = [...page.matchAll(/`([^`\s]+)`/g)].map((match) => match[1]!);

const sql = readdirSync('db/sql', { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.sql'))
  .map((file) => readFileSync(path.join('db/sql', file), 'utf8'))
  .join('\n');

test('the table of rooms lists every folder of src', () => {
  const listed = new Set([...page.matchAll(/^\| `src\/([a-z-]+)/gm)].map((match) => match[1]!));
  const folders = readdirSync('src', { withFileTypes: true })
    .filter((item) => item.isDirectory())
    .map(({ name }) => name);
  expect([...listed].toSorted()).toEqual(folders.toSorted());
});

test.each(['ARCHITECTURE.md', 'CONTRIBUTING.md', 'src/database/nodes/README.md'])(
  'every path named in %s exists',
  (file) => {
    const paths = [...readFileSync(file, 'utf8').matchAll(/`((?:src|db|test|\.ci)\/[^`\s<]*)`/g)].map(
      (match) => match[1]!,
    );
    expect(paths.length).toBeGreaterThan(5);
    for (const name of paths) expect(existsSync(name), name).toBe(true);
  },
);

test('every file that it names without a path is one file', () => {
  const files = ['src', 'db'].flatMap((folder) => readdirSync(folder, { recursive: true, encoding: 'utf8' }));
  const bare = named.filter((name) => /^[a-z-]+\.(ts|tsx|sql)$/.test(name) && name !== 'declaration.ts');
  expect(bare.length).toBeGreaterThan(3);
  for (const name of bare)
    expect(
      files.map((file) => path.basename(file)),
      name,
    ).toContain(name);
});

test('every database function it names exists', () => {
  const functions = named.filter(
    (name) => /^_?[a-z]+(_[a-z]+)+$/.test(name) && !/^(lease_lost|enqueue_no)$/.test(name),
  );
  expect(functions.length).toBeGreaterThan(5);
  for (const name of functions) expect(sql, name).toContain(`function lanefold.${name}(`);
});
