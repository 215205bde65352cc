import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

/** Which folders of the checkout each folder may import from. Only tests, which are not in here, see all of them. */
const reach: Record<string, string[]> = {
  db: [],
  src: ['db'],
  workers: ['src'],
  bench: ['src'],
  // a program in the browser: it knows the server by its HTTP API
  page: [],
  // know what users know: the package
  examples: [],
};

/** Bundles the page, so it belongs to Node's side and to no room. */
const pageBuild = path.join('page', 'build.ts');

const textOf = new Map(
  Object.keys(reach)
    .flatMap((tree) => readdirSync(tree, { recursive: true, encoding: 'utf8' }).map((file) => path.join(tree, file)))
    .filter((file) => /\.tsx?$/.test(file) && !file.includes('node_modules') && file !== pageBuild)
    .map((file) => [file, readFileSync(file, 'utf8')]),
);
const files = [...textOf.keys()];
const treeOf = (file: string): string => file.split(path.sep)[0]!;

const importsOf = new Map(
  [...textOf].map(([file, text]) => [
    file,
    [...text.matchAll(/(?:from |import |import\()'(\.[^']+\.tsx?)'/g)].map((match) =>
      path.join(path.dirname(file), match[1]!),
    ),
  ]),
);
const imports = (file: string): string[] => importsOf.get(file)!;

/** The drawing in ARCHITECTURE.md: a tree, then its wings from the top down, each with floors of rooms from the top down. */
const drawn = /^```text\n(src\n.*?)^```$/ms.exec(readFileSync('ARCHITECTURE.md', 'utf8'))![1]!;
const houses = drawn.split('\n\n').map((house) => {
  const [tree, ...wings] = house
    .trimEnd()
    .replaceAll(/\n {8,}/g, ' ')
    .split('\n') as [string, ...string[]];
  const floors = wings.flatMap((line) => {
    const [wing, ...rooms] = line.trim().split(/ +/) as [string, ...string[]];
    const inWing = (room: string) => (room === '.' ? wing : wing === '.' ? room : `${wing}/${room}`);
    return rooms
      .join(' ')
      .split(' / ')
      .map((floor) => floor.split(' ').map(inWing));
  });
  return { tree, floors: floors.reverse() };
});

test('the drawing has the rooms of src and of the page', () => {
  expect(houses.map(({ tree }) => tree)).toEqual(['src', 'page']);
});

describe.each(houses)('the rooms of $tree', ({ tree, floors }) => {
  const own = files.filter((file) => treeOf(file) === tree);
  // a room inside another one comes before it
  const rooms = floors.flat().toSorted((a, b) => b.length - a.length);
  const doors = rooms.map((room) => [room, `${path.join(tree, room)}${path.sep}`] as const);
  const rooming = new Map(
    own.map((file) => [file, doors.find(([, door]) => `${file}${path.sep}`.startsWith(door))?.[0]]),
  );
  const roomOf = (file: string) => rooming.get(file);
  const floorOf = (file: string): number => floors.findIndex((rooms) => rooms.includes(roomOf(file)!));

  test('are all on a floor, and none is empty', () => {
    expect(own.filter((file) => roomOf(file) === undefined)).toEqual([]);
    const inhabited = new Set(own.map(roomOf));
    expect(rooms.filter((room) => !inhabited.has(room))).toEqual([]);
  });

  test('import from the floors below only', () => {
    const wrong = own.flatMap((file) =>
      imports(file)
        .filter((target) => treeOf(target) === tree)
        .filter((target) => roomOf(target) !== roomOf(file) && floorOf(target) >= floorOf(file))
        .map((target) => `${file} -> ${target}`),
    );
    expect(wrong, 'move what both need to a floor below both').toEqual([]);
  });
});

test('folders of the checkout import only from those within their reach', () => {
  const wrong = files.flatMap((file) =>
    imports(file)
      .filter((target) => treeOf(target) !== treeOf(file) && !reach[treeOf(file)]!.includes(treeOf(target)))
      .map((target) => `${file} -> ${target}`),
  );
  expect(wrong).toEqual([]);
});

test('no files import each other in a circle', () => {
  const done = new Set<string>();
  const circles: string[] = [];
  const visit = (file: string, trail: string[]): void => {
    if (trail.includes(file)) circles.push([...trail.slice(trail.indexOf(file)), file].join(' -> '));
    else if (!done.has(file))
      for (const target of imports(file)) if (textOf.has(target)) visit(target, [...trail, file]);
    done.add(file);
  };
  for (const file of files) visit(file, []);
  expect(circles, 'move what both need to a third file').toEqual([]);
});

test('SQL stays in the store', () => {
  // the checks of a campaign question the database from outside; the demo prints statements for people to copy
  const exempt = ['/store/', '/store.ts', 'src/ops/chaos/', 'src/ops/cli/commands/demo.ts'];
  // most files name none
  const named = /\blanefold\.[_a-z]/;
  const sql = /\b(select|insert into|update|delete from)\b[^;]*?\blanefold\.[_a-z]/;
  const found = files.filter(
    (file) => treeOf(file) === 'src' && !exempt.some((place) => file.split(path.sep).join('/').includes(place)),
  );
  expect(found.filter((file) => named.test(textOf.get(file)!) && sql.test(textOf.get(file)!))).toEqual([]);
});
