import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { places } from '../../src/doors/client/operations.ts';
import { nouns } from '../../src/server/declared/nouns.ts';

/** What operators do from the command line, the page or their own requests: whole nouns, and some operations of others. */
const ofOperators = {
  nouns: ['agents', 'audit', 'circuits', 'evals', 'library', 'monitors', 'schedules', 'tenants', 'webhooks', 'workers'],
  operations: [
    ...['createKey', 'listKeys', 'revokeKey', 'rotateKey', 'setLimit', 'removeLimit'],
    ...['diffContexts', 'replayCall', 'createEventToken', 'listMarks', 'streamTree'],
    ...['eraseTenant', 'exportThread', 'importThread', 'listTools'],
  ],
};
const declared = nouns.flatMap(({ part, operations, requests }) =>
  [...Object.values(operations), ...Object.values(requests)].map((operation) => ({ part, ...operation })),
);

test('an operation with a route is one of the client, or is known to be one of operators', () => {
  const others = declared.filter(({ client, route, part }) => route && !client && !ofOperators.nouns.includes(part));
  expect(others.map(({ id }) => id).sort()).toEqual(ofOperators.operations.toSorted());
  const both = declared.filter(({ client, part }) => client && ofOperators.nouns.includes(part));
  expect(both.map(({ id }) => id)).toEqual([]);
});

test('the client has a method for each operation that it is declared to have', () => {
  const folder = 'src/doors/client';
  const files = readdirSync(folder).filter((file) => file !== 'operations.ts');
  const source = files.map((file) => readFileSync(`${folder}/${file}`, 'utf8')).join('\n');
  const offered = declared.filter(({ client }) => client).map(({ id }) => id);
  expect(Object.keys(places).sort()).toEqual(offered.toSorted());
  expect(offered.filter((id) => !source.includes(`'${id}'`))).toEqual([]);
});
