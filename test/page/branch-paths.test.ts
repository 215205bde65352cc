// @module-tag slow
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Branch, TreeMessage } from '../../page/api/types.ts';
import { allLanes, Branches, branchOf, holds, laneAt, pathOf } from '../../page/state/branches.ts';
import { idGrammar } from '../../src/base/checks/ids.ts';
import { startApi, type Api } from '../api/helpers.ts';
import { until } from '../support/until.ts';

let api: Api;
beforeAll(async () => {
  api = await startApi({ worker: false });
});
afterAll(() => api?.close());

/** Reads a part of a thread as the page does. */
const reader =
  (threadId: string) =>
  async <T>(part: string, query: Record<string, number> = {}): Promise<T> => {
    const text = new URLSearchParams(
      Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]),
    ).toString();
    return (await api.call('GET', `/v1/threads/${threadId}/${part}?${text}`)).body as T;
  };

/** A read that fails leaves what the test waits for missing. */
const ignore = () => {};

/** A message on one of the lanes, or a branch of one of them, after one of the entries. */
const step = fc.record({ branch: fc.boolean(), lane: fc.nat(), after: fc.nat() });

async function build(threadId: string, steps: { branch: boolean; lane: number; after: number }[]): Promise<void> {
  const { threads } = api.lanefold;
  await threads.create({ id: threadId });
  const lanes = ['default', 'draft'];
  const say = (contextRef: string) =>
    threads.append(threadId, [{ kind: 'ai_message', contextRef, payload: { role: 'user', content: 'Well?' } }]);
  for (const lane of lanes) await say(lane);
  for (const { branch, lane, after } of steps) {
    const contextRef = lanes[lane % lanes.length]!;
    if (!branch) await say(contextRef);
    else {
      const { rev } = await threads.get(threadId);
      lanes.push((await threads.branch(threadId, { afterSeq: (after % (rev + 1)) - 1, contextRef })).contextRef);
    }
  }
}

test('a branch holds the messages that lead to its last one, and the versions are those of the log', async () => {
  let n = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 14 }), async (steps) => {
      const threadId = `tree-${n++}`;
      await build(threadId, steps);
      const { rev } = await api.lanefold.threads.get(threadId);
      const whole = new Branches(reader(threadId), ignore);
      whole.whole = true;
      await whole.refresh(rev);
      await until('the messages are read', () => whole.messages.value.length > 0);
      const lanes: Branch[] = whole.lanes.value;
      const messages: TreeMessage[] = whole.messages.value;
      const parents = new Map(messages.map(({ seq, parent_seq: parent }) => [seq, parent]));
      for (const { context_ref: lane, parent_seq: parent, branch_seq: began, parent_context_ref: left } of lanes) {
        const held = messages.filter((message) => holds(pathOf(lanes, lane), message)).map(({ seq }) => seq);
        const chain: number[] = [];
        const last = messages.findLast((message) => message.context_ref === lane)?.seq ?? parent;
        for (let seq = last; seq != null; seq = parents.get(seq) ?? null) chain.unshift(seq);
        expect(held).toEqual(chain);
        if (began !== null) expect(laneAt(lanes, lane, began - 1)).not.toBe(lane);
        expect(laneAt(lanes, lane, rev)).toBe(lane);
        expect(left === null || pathOf(lanes, lane).size > 1).toBe(true);
      }
      for (const message of messages) {
        const versions = whole.versions.value.get(message.seq) ?? [message];
        expect(versions.length).toBe(message.siblings);
        expect(versions.indexOf(message) + 1).toBe(message.place);
        expect(holds(pathOf(lanes, branchOf(lanes, message)), message)).toBe(true);
      }
      // what comes before the first branch has no versions, so a thread is shown without it
      const part = new Branches(reader(threadId), ignore);
      await part.refresh(rev);
      const seqs = (branches: Branches) =>
        [...branches.versions.value].map(([seq, group]) => [seq, group.map((one) => one.seq)]);
      if (part.any.value)
        await until('the versions are read', () => part.versions.value.size === whole.versions.value.size);
      expect(seqs(part)).toEqual(seqs(whole));
    }),
    { numRuns: 8 },
  );
});

test('no lane has the name that means all lanes', () => {
  expect(idGrammar.test(allLanes)).toBe(false);
});
