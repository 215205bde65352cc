import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Recent } from '../../src/base/common/caches.ts';

test('keeps what was used last, up to its weight, and the last entry in any case', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 20 }),
      fc.array(fc.tuple(fc.integer({ min: 0, max: 9 }), fc.option(fc.integer({ min: 0, max: 30 })))),
      (most, steps) => {
        const recent = new Recent<number, { weight: number }>(most, ({ weight }) => weight);
        let model: { key: number; weight: number }[] = [];
        for (const [key, weight] of steps) {
          const before = model.find((entry) => entry.key === key);
          model = model.filter((entry) => entry !== before);
          if (weight === null) {
            expect(recent.get(key)?.weight).toBe(before?.weight);
            if (before) model.push(before);
            continue;
          }
          recent.set(key, { weight });
          model.push({ key, weight });
          while (model.length > 1 && model.reduce((sum, entry) => sum + entry.weight, 0) > most) model.shift();
        }
        expect([...model].map(({ key }) => recent.get(key)?.weight)).toEqual(model.map(({ weight }) => weight));
        const kept = Array.from({ length: 10 }, (_, key) => recent.get(key)).filter((value) => value !== undefined);
        expect(kept).toHaveLength(model.length);
      },
    ),
  );
});
