import { fakeModel, type FakeModel, type FakeTurn } from './fake-model.ts';

const thoughts = (...contents: string[]): FakeTurn => ({ text: JSON.stringify({ thoughts: contents }) });
const scores = (...values: number[]): FakeTurn => ({
  text: JSON.stringify({ scores: Object.fromEntries(values.map((value, i) => [`t${i + 1}`, value])) }),
});

/** A model for Tree of Thoughts of depth 2: by train (by night, by day) is better than by car. */
export const treeModel = (): FakeModel =>
  fakeModel(({ prompt }) => {
    const asked = JSON.stringify(prompt.filter(({ role }) => role === 'user'));
    const deeper = asked.includes('<step>');
    if (asked.includes('Score each')) return deeper ? scores(0.9, 0.3) : scores(0.8, 0.4);
    return deeper ? thoughts('By night', 'By day') : thoughts('By train', 'By car');
  });
