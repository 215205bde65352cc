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

test.each([
  ['sends rows to the new node', '0A000', 'COPY FROM not supported with row-level security'],
  ['read rows of the old node', '23505', 'duplicate key value violates unique constraint "_run_active_102039"'],
])('a write that waited for a thread to move, and %s, is tried again', (_, code, message) => {
  const moved = fault('ERROR', code, message);
  expect([isTransient(moved), isTransient(fromPostgres(moved))]).toEqual([true, true]);
  expect(fromPostgres(moved, 't1')).toMatchObject({
    code: 'thread_locked',
    message: expect.stringContaining('Thread t1'),
  });
});

test.each([
  ['0A000', 'another feature not supported'],
  ['23505', 'duplicate key value violates unique constraint "_run_active"'],
])('%s for another reason is not tried again', (code, message) => {
  const error = fault('ERROR', code, message);
  expect([isTransient(error), isTransient(fromPostgres(error))]).toEqual([false, false]);
});
