import { expect, test } from 'vitest';
import { fromPostgres, isConnectionError, isNodeUnreachable, isTransient } from '../../src/database/postgres/errors.ts';

const fault = (severity: string | undefined, code: string, message: string) =>
  Object.assign(new Error(message), { code, ...(severity ? { severity } : {}) });

/** As Citus 13.2 says it. */
const ofNode = fault('ERROR', '08006', 'connection to the remote node a@b:1 failed with the following error: refused');

test.each([
  ['the node of a thread is down', ofNode, true],
  ['the server shuts down', fault('FATAL', '57P01', 'terminating connection due to administrator command'), false],
  ['the server is gone', fault(undefined, 'ECONNREFUSED', 'connect ECONNREFUSED'), false],
  ['the server is a standby', fault('ERROR', '25006', 'cannot execute INSERT in a read-only transaction'), false],
])('%s', (_, error, ofOneNode) => {
  for (const each of [error, fromPostgres(error)]) {
    expect(isConnectionError(each)).toBe(true);
    expect(isNodeUnreachable(each)).toBe(ofOneNode);
  }
});

test('a write that waited for a thread to move is tried again', () => {
  const moved = fault('ERROR', '0A000', 'COPY FROM not supported with row-level security');
  expect([isTransient(moved), isTransient(fromPostgres(moved))]).toEqual([true, true]);
  expect(isTransient(fault('ERROR', '0A000', 'another feature not supported'))).toBe(false);
});
