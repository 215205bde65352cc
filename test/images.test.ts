import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

/** The image that docker-compose.yml builds, unless an upgrade names another one. */
const own = '${LANEFOLD_IMAGE:-lanefold}';

/** The images a file starts from, without those that it builds itself. */
function imagesOf(file: string): string[] {
  const text = readFileSync(new URL(`../${file}`, import.meta.url), 'utf8');
  const named = [...text.matchAll(/^\s*(?:FROM(?:\s+--\S+)*|image:)\s+(\S+)(?:\s+AS\s+(\S+))?/gim)];
  const built = new Set(named.map(([, , stage]) => stage).concat(text.includes('build: .') ? own : []));
  return named.map(([, image]) => image!).filter((image) => !built.has(image));
}

const files = ['Dockerfile', 'docker-compose.yml', 'compose.dev.yml'];

test.each(files)('%s names every image by its digest', (file) => {
  const images = imagesOf(file);
  expect(images).not.toEqual([]);
  for (const image of images) expect(image).toMatch(/^[\w./-]+:[\w.-]+@sha256:[0-9a-f]{64}$/);
});

test('a tag has one digest in all of them', () => {
  const images = new Set(files.flatMap(imagesOf));
  expect(new Set([...images].map((image) => image.split('@')[0])).size).toBe(images.size);
});
