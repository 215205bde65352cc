import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { apiTypes, typesFile } from './generate-types.ts';

test('the types of the page are those of the OpenAPI document', async () => {
  expect(await readFile(typesFile, 'utf8'), 'run `npm run types:api`').toBe(await apiTypes());
});
