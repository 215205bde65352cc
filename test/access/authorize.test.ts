import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { authorize } from '../../src/access/authorize.ts';
import { newKey, readKey, hashOf } from '../../src/access/key.ts';
import { operator, type Principal } from '../../src/access/principal.ts';
import { RequestRate } from '../../src/access/rate.ts';
import { scopes } from '../../src/access/scope.ts';

const key = (allowed: Partial<Principal>): Principal => ({ actor: 'key:k', scopes: ['read', 'run'], ...allowed });
const refusal = (principal: Principal, subject: Parameters<typeof authorize>[1]) => {
  try {
    authorize(principal, subject);
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
    for (const scope of scopes) expect(refusal(operator, { scope, threadId: 't', agent: 'a' })).toBeUndefined();
  });

  test('stays within its threads, run and agents; where a request names none, it is refused', () => {
    const desk = key({ threadPrefix: 'desk-' });
    expect(refusal(desk, { scope: 'read', threadId: 'desk-1' })).toBeUndefined();
    expect(refusal(desk, { scope: 'read', threadId: 'des' })).toMatch(/threads that begin with desk-/);
    expect(refusal(desk, { scope: 'read' })).toMatch(/desk-/);
    const page = key({ threadId: 't', runId: 'r' });
    expect(refusal(page, { scope: 'read', threadId: 't', runId: 'r' })).toBeUndefined();
    expect(refusal(page, { scope: 'read', threadId: 't' })).toMatch(/run r alone/);
    expect(refusal(page, { scope: 'read', threadId: 'u', runId: 'r' })).toMatch(/thread t alone/);
    const support = key({ agents: ['support'] });
    expect(refusal(support, { scope: 'run', threadId: 't', agent: 'support' })).toBeUndefined();
    expect(refusal(support, { scope: 'run', threadId: 't', agent: 'admin' })).toMatch(/agents support/);
    expect(refusal(support, { scope: 'read', threadId: 't' })).toBeUndefined();
  });
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
