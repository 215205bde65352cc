import { reportOf, toJson } from 'lanefold/evals';
import { expect, test } from 'vitest';
import { itemOf, scoreOf } from './items.ts';

test('has the fields of the report in snake_case, and text as it is', () => {
  const report = reportOf([
    itemOf({ tags: ['lateRefund'], answer: '{"camelCase":1}' }),
    itemOf({ tags: ['lateRefund'], variant: 'b', scores: [scoreOf(0, { scorer: 'isPolite' })] }),
  ]);
  expect(toJson(report)).toMatchInlineSnapshot(`
    {
      "baseline": "a",
      "comparisons": [
        {
          "baseline": "a",
          "better": 0,
          "by_case": [
            {
              "baseline": 1,
              "baseline_answer": {
                "answer": "{"camelCase":1}",
                "reasons": [],
                "score": 1,
              },
              "candidate": 0,
              "candidate_answer": {
                "answer": "20 €",
                "reasons": [],
                "score": 0,
              },
              "case_id": "case_1",
              "difference": -1,
              "repeat": 1,
              "repeats": 1,
              "tags": [
                "lateRefund",
              ],
            },
          ],
          "by_tag": [
            {
              "better": 0,
              "cases": 1,
              "difference": {
                "high": null,
                "low": null,
                "mean": -1,
              },
              "same": 0,
              "tag": "lateRefund",
              "verdict": "too_few_cases",
              "worse": 1,
            },
          ],
          "candidate": "b",
          "cases": 1,
          "difference": {
            "high": null,
            "low": null,
            "mean": -1,
          },
          "pairs": 1,
          "pass_rate_difference": {
            "high": null,
            "low": null,
            "mean": -1,
          },
          "same": 0,
          "unpaired": 0,
          "verdict": "too_few_cases",
          "worse": 1,
        },
      ],
      "format": 1,
      "resamples": 2000,
      "seed": 1,
      "variants": [
        {
          "cost_micros": 120,
          "diverged": 0,
          "erased": 0,
          "estimated_tokens": 0,
          "failures": 0,
          "input_tokens": 90,
          "items": 1,
          "output_tokens": 8,
          "p50_ms": 800,
          "p95_ms": 800,
          "pass_rate": 1,
          "passed": 1,
          "pending": 0,
          "reused": 0,
          "score": 1,
          "scored": 1,
          "scorers": [
            {
              "errors": 0,
              "not_applicable": 0,
              "score": 1,
              "scored": 1,
              "scorer": "answer",
            },
          ],
          "skipped": 0,
          "unpriced": 0,
          "unscored": 0,
          "variant": "a",
        },
        {
          "cost_micros": 120,
          "diverged": 0,
          "erased": 0,
          "estimated_tokens": 0,
          "failures": 0,
          "input_tokens": 90,
          "items": 1,
          "output_tokens": 8,
          "p50_ms": 800,
          "p95_ms": 800,
          "pass_rate": 0,
          "passed": 0,
          "pending": 0,
          "reused": 0,
          "score": 0,
          "scored": 1,
          "scorers": [
            {
              "errors": 0,
              "not_applicable": 0,
              "score": 0,
              "scored": 1,
              "scorer": "isPolite",
            },
          ],
          "skipped": 0,
          "unpriced": 0,
          "unscored": 0,
          "variant": "b",
        },
      ],
    }
  `);
});
