import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { authorize, RequestRate } from '../../src/base/access/authorize.ts';
import {
  assertMayGrant,
  newKey,
  readKey,
  hashOf,
  operator,
  type Principal,
  scopes,
} from '../../src/base/access/principal.ts';

const key = (allowed: Partial<Principal>): Principal => ({ actor: 'key:k', scopes: ['read', 'run'], ...allowed });
type Subject = Parameters<typeof authorize>[1];
const refusal = (principal: Principal, subject: Pick<Subject, 'scope'> & Partial<Subject>) => {
  try {
    authorize(principal, { operation: 'anyOperation', fields: [], ...subject });
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
};

describe('a key', () => {
  test('is read back from its text, and nothing else is read as one', () => {
    const { id, text, hash } = newKey();
    const read = readKey(text)!;
    expect(read.id).toBe(id);
    expect(hashOf(read.secret)).toEqual(hash);
    for (const other of ['', 'secret', text.slice(1), `${text}x`, text.slice(0, -1), text.toUpperCase()]) {
      expect(readKey(other)).toBeUndefined();
    }
  });

  test('does what its scopes say, and nothing more', () => {
    fc.assert(
      fc.property(fc.subarray([...scopes]), fc.constantFrom(...scopes), (granted, asked) => {
        expect(refusal(key({ scopes: granted }), { scope: asked }) === undefined).toBe(granted.includes(asked));
      }),
    );
    for (const scope of scopes) expect(refusal(operator, { scope, threadId: 't', agents: ['a'] })).toBeUndefined();
  });

  test('stays within its threads, run and agents; where a request names none, it is refused', () => {
    const desk = key({ threadPrefix: 'desk-' });
    expect(refusal(desk, { scope: 'read', threadId: 'desk-1' })).toBeUndefined();
    expect(refusal(desk, { scope: 'read', threadId: 'des' })).toMatch(/threads whose id begins with desk-/);
    expect(refusal(desk, { scope: 'read' })).toMatch(/desk-/);
    const page = key({ threadId: 't', runId: 'r' });
    expect(refusal(page, { scope: 'read', threadId: 't', runId: 'r' })).toBeUndefined();
    expect(refusal(page, { scope: 'read', threadId: 't' })).toMatch(/limited to run r/);
    expect(refusal(page, { scope: 'read', threadId: 'u', runId: 'r' })).toMatch(/limited to thread t/);
    const support = key({ agents: ['support'] });
    expect(refusal(support, { scope: 'run', threadId: 't', agents: ['support'] })).toBeUndefined();
    expect(refusal(support, { scope: 'run', threadId: 't', agents: ['admin'] })).toMatch(/agents support/);
    expect(refusal(support, { scope: 'read', threadId: 't' })).toBeUndefined();
  });
});

test('a key hands out no more agents and threads than it has', () => {
  const grants = (own: Partial<Principal>, given: Partial<Principal>) => {
    try {
      assertMayGrant(key(own), { scopes: ['read'], ...given });
      return true;
    } catch {
      return false;
    }
  };
  expect(grants({ agents: ['a', 'b'] }, { agents: ['a'] })).toBe(true);
  expect(grants({ agents: ['a', 'b'] }, { agents: ['a', 'c'] })).toBe(false);
  expect(grants({ agents: ['a', 'b'] }, {})).toBe(false);
  expect(grants({ threadPrefix: 'desk-' }, { threadPrefix: 'desk-1' })).toBe(true);
  expect(grants({ threadPrefix: 'desk-' }, { threadPrefix: 'des' })).toBe(false);
  expect(grants({ threadPrefix: 'desk-' }, {})).toBe(false);
  expect(grants({}, { agents: ['a'], threadPrefix: 'x', limits: { runs: 1 }, expiresAtMs: 1 })).toBe(true);
});

describe('the rate of requests', () => {
  test('lets a minute’s worth pass at once, and then as many as come free', () => {
    const rate = new RequestRate();
    const passed = (times: number, at: number) =>
      Array.from({ length: times }, () => rate.take('k', 60, at)).filter((waitS) => waitS === 0).length;
    expect(passed(100, 0)).toBe(60);
    expect(rate.take('k', 60, 0)).toBe(1);
    expect(rate.take('other', 60, 0)).toBe(0);
    expect(passed(100, 10_000)).toBe(10);
    expect(passed(100, 200_000)).toBe(60);
  });
});
