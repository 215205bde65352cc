import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

/** The rooms of src from the ground floor up: each may import those above it in this list, and none below it. */
const floors = [
  ['errors.ts'],
  ['common', 'checks', 'environment.ts'],
  ['context'],
  ['policy'],
  ['redaction', 'postgres', 'tokens', 'access'],
  ['log'],
  ['models', 'tools'],
  ['contracts'],
  ['strategies'],
  ['testing'],
  ['store'],
  ['agents', 'queue', 'fleet'],
  ['streams', 'telemetry'],
  ['ui-messages'],
  ['runtime/run', 'library'],
  ['runtime/job'],
  ['runtime/worker'],
  ['api'],
  ['chat'],
  ['lanefold'],
  ['chaos', 'replay'],
  ['cli'],
  ['index.ts'],
];

const src = path.resolve('src');
const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
const textOf = new Map(files.map((file) => [file, readFileSync(path.join(src, file), 'utf8')]));

const roomOf = (file: string): string => {
  const [first, second] = file.split(path.sep) as [string, string?];
  return first === 'runtime' ? `runtime/${second}` : first;
};
const floorOf = (file: string): number => floors.findIndex((rooms) => rooms.includes(roomOf(file)));

const imports = (file: string): string[] =>
  [...textOf.get(file)!.matchAll(/(?:from |import\()'(\.[^']+\.ts)'/g)]
    .map((match) => path.relative(src, path.resolve(src, path.dirname(file), match[1]!)))
    .filter((target) => textOf.has(target));

describe('the rooms of src', () => {
  test('are all on a floor', () => {
    expect(files.filter((file) => floorOf(file) < 0)).toEqual([]);
  });

  test('import downwards only', () => {
    const upward = files.flatMap((file) =>
      imports(file)
        .filter((target) => roomOf(target) !== roomOf(file) && floorOf(target) >= floorOf(file))
        .map((target) => `${file} -> ${target}`),
    );
    expect(upward).toEqual([]);
  });

  test('hold no circle of files', () => {
    const done = new Set<string>();
    const circles: string[] = [];
    const visit = (file: string, trail: string[]): void => {
      if (trail.includes(file)) circles.push([...trail.slice(trail.indexOf(file)), file].join(' -> '));
      else if (!done.has(file)) for (const target of imports(file)) visit(target, [...trail, file]);
      done.add(file);
    };
    for (const file of files) visit(file, []);
    expect(circles).toEqual([]);
  });

  test('leave SQL to the store', () => {
    // the checks of a campaign question the database from outside; the demo prints statements for people to copy
    const exempt = (file: string) => roomOf(file) === 'chaos' || file === path.join('cli', 'commands', 'demo.ts');
    const sql = /\b(select|insert into|update|delete from)\b[^;]*?\blanefold\.[_a-z]/;
    const found = files.filter((file) => roomOf(file) !== 'store' && !exempt(file) && sql.test(textOf.get(file)!));
    expect(found).toEqual([]);
  });
});
