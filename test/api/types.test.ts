// @module-tag slow
import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { clientFile, clientOperations } from './generate-client.ts';
import { libraryTypes } from './generate-library.ts';
import { apiTypes, typesFile } from './generate-types.ts';

test('the types of the page are those of the OpenAPI document', async () => {
  expect(await readFile(typesFile, 'utf8'), 'run `npm run types:api`').toBe(await apiTypes());
});

test('the operations of the client are those of the OpenAPI document', async () => {
  expect(await readFile(clientFile, 'utf8'), 'run `npm run types:api`').toBe(await clientOperations());
});

test('the types of the library are those of the declarations', async () => {
  for (const [file, source] of await libraryTypes())
    expect(await readFile(file, 'utf8'), 'run `npm run types:api`').toBe(source);
});
